import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { git, gitInTurn, gitText } from '../../../lanes/work/git.ts';
import { makeRemote, put, sh } from './support.ts';

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

it('commands in turn print together, in order, each argument as it stands', async () => {
  const cwd = makeRemote({ a: 'a' });
  const hostile = `$(touch broken) 'one' "two" \`touch broken\`\n; touch broken \\`;
  const { stdout } = await gitInTurn(
    [
      ['rev-parse', '--sq-quote', hostile],
      ['rev-parse', 'HEAD'],
    ],
    { cwd },
  );
  expect(stdout.toString()).toBe(
    ` '${hostile.replaceAll("'", `'\\''`)}'\n${sh(cwd, 'git', 'rev-parse', 'HEAD')}\n`,
  );
  expect(existsSync(join(cwd, 'broken'))).toBe(false);
});

it('the first of them that fails ends them, and is an answer only where its code was named one', async () => {
  const cwd = makeRemote({ a: 'a' });
  put(cwd, 'a', 'changed');
  const [differs, head] = [
    ['diff', '--exit-code', '--quiet'],
    ['rev-parse', 'HEAD'],
  ] as const;
  expect(await gitInTurn([differs, head], { cwd, okCodes: [0, 1] })).toMatchObject({ code: 1 });
  await expect(gitInTurn([differs, head], { cwd })).rejects.toThrow('git diff, rev-parse, exit 1');
  const failing = gitInTurn([head, differs, ['update-ref', 'refs/heads/never', 'HEAD']], {
    cwd,
    okCodes: [0, 1],
  });
  await expect(failing).rejects.toMatchObject({ code: 'git_failed' });
  expect(sh(cwd, 'git', 'for-each-ref', 'refs/heads/never')).toBe('');
});
