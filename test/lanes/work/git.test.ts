import { expect, it } from 'vitest';
import { git, gitText } from '../../../lanes/work/git.ts';
import { makeRemote, sh } from './support.ts';

it('a failure names the command and says why, without the secrets it was given', async () => {
  const cwd = makeRemote({ a: 'a' });
  const failing = git({ args: ['cat-file', '-t', 'ghs_secret'], cwd, secrets: ['ghs_secret'] });
  const error = await failing.catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'git_failed' });
  expect(String(error)).toContain('git cat-file, exit 128');
  expect(String(error)).toContain('***');
  expect(String(error)).not.toContain('ghs_secret');
});

it('a password in an address is not quoted', async () => {
  const cwd = makeRemote({ a: 'a' });
  const failing = git({ args: ['apply', 'https://user:password@example.org/x'], cwd });
  await expect(failing).rejects.toThrow('//***@example.org');
  await expect(failing).rejects.not.toThrow('password');
});

it('configuration of the machine and of the person is not read', async () => {
  const cwd = makeRemote({ a: 'a' });
  sh(cwd, 'git', 'config', '--global', 'user.name', 'somebody');
  const list = await gitText({ args: ['config', '--list', '--show-scope'], cwd, env: { HOME: cwd } });
  expect(list).not.toMatch(/^(?:global|system)/m);
});

it('an exit code that was named an answer is one', async () => {
  const cwd = makeRemote({ a: 'a' });
  const same = await git({ args: ['diff', '--exit-code', '--quiet', 'HEAD'], cwd, okCodes: [0, 1] });
  expect(same.code).toBe(0);
});
