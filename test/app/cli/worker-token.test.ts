import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandLine } from '../../demo/lanekeeper.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'lanes-worker-token-'));
  const file = 'lanes:\n  triage: { agent: { kind: checks } }\ngrants:\n  box-42: ["agent:42"]\n';
  writeFileSync(join(dir, 'lanekeeper.yml'), file);
});
afterAll(() => rmSync(dir, { recursive: true }));

const run = (...args: string[]) =>
  execa(process.execPath, commandLine(['worker-token', ...args]), {
    cwd: dir,
    env: { PATH: process.env.PATH ?? '' },
    extendEnv: false,
    reject: false,
  });

test('a token is printed once, listed without its secret, and revoked', async () => {
  const added = await run('add', 'box-42');
  expect([added.exitCode, added.stdout]).toEqual([0, expect.stringMatching(/^lkw_[0-9a-f]{8}_[\w-]{43}$/)]);
  const id = added.stdout.slice(4, 12);
  expect(added.stderr).toContain(`Token ${id} of box-42, for agent:42.`);
  const listed = await run('list', '--json');
  expect(JSON.parse(listed.stdout)).toMatchObject([{ id, worker: 'box-42', revokedAt: null }]);
  expect(listed.stdout + (await run('list')).stdout).not.toContain(added.stdout.slice(13));
  const revoked = await run('revoke', id, '--json');
  expect(JSON.parse(revoked.stdout)).toMatchObject({ id, revokedAt: expect.any(String) });
});

test('a worker without a grant gets no token', async () => {
  const refused = await run('add', 'box-7');
  expect([refused.exitCode, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toContain('box-7 has no grants');
});

test('an id that is not known is told, and bad usage ends with 2', async () => {
  expect((await run('revoke', 'ffffffff')).exitCode).toBe(1);
  expect((await run('add')).exitCode).toBe(2);
  expect((await run('forget', 'x')).exitCode).toBe(2);
});
