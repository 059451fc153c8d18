import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { redisAclCommand } from '../../../app/cli/redis-acl.ts';
import { type OwnRedis, startOwnRedis } from '../../support/redis.ts';

const folder = mkdtempSync(join(tmpdir(), 'lanekeeper-acl-'));
const dataDir = join(folder, 'var');
const config = join(folder, 'lanekeeper.yml');

const operatorFile = (grants: string): string => `
lanes: { fix: { agent: { kind: checks } }, docs: { agent: { kind: checks } } }
grants: ${grants}
`;

let server: OwnRedis;
let admin: Redis;
beforeAll(async () => {
  server = await startOwnRedis();
  admin = new Redis(server.url).on('error', () => {});
  await admin.call('ACL', 'SETUSER', 'somebody', 'on', '>x');
  writeFileSync(config, operatorFile('{ worker-a: ["lane:fix"], box-42: ["agent:42"] }'));
});
afterAll(async () => {
  admin.disconnect();
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** Runs the command as the program does, and hears what it prints. */
async function redisAcl(args: string[], redisUrl = server.url) {
  vi.stubEnv('LANES_DATA_DIR', dataDir);
  vi.stubEnv('LANES_CONFIG', config);
  vi.stubEnv('LANES_REDIS_URL', redisUrl);
  const [said, complained]: [string[], string[]] = [[], []];
  const out = vi.spyOn(process.stdout, 'write').mockImplementation((text) => said.push(String(text)) > 0);
  const err = vi
    .spyOn(process.stderr, 'write')
    .mockImplementation((text) => complained.push(String(text)) > 0);
  const before = process.exitCode;
  process.exitCode = 0;
  try {
    await redisAclCommand().exitOverride().parseAsync(args, { from: 'user' });
    return { code: process.exitCode, ...told(said, complained) };
  } catch (error) {
    // The program gives 2 to every usage error.
    if (!(error instanceof CommanderError)) throw error;
    return { code: 2, ...told(said, complained) };
  } finally {
    process.exitCode = before;
    for (const spy of [out, err]) spy.mockRestore();
    vi.unstubAllEnvs();
  }
}

function told(said: string[], complained: string[]) {
  const [stdout, stderr] = [said.join(''), complained.join('')];
  return { stdout, stderr, lines: stdout.split('\n').filter((line) => line !== '') };
}

const passwords = (): Record<string, string> =>
  JSON.parse(readFileSync(join(dataDir, 'redis-users.json'), 'utf8')).users;

const names = ['app', 'worker-a'].map((who) => `lane:fix@${who}`);

it('prints an aclfile that Redis loads, with hashes and no passwords', async () => {
  const { code, lines, stdout } = await redisAcl([]);
  expect(code).toBe(0);
  expect(lines.map((line) => line.split(' ')[1])).toEqual([
    'agent:42@app',
    'agent:42@box-42',
    'broker:github@app',
    'broker:intake@app',
    'lane:docs@app',
    ...names,
    'main@app',
  ]);
  for (const password of Object.values(passwords())) expect(stdout).not.toContain(password);
  for (const line of lines)
    expect(await admin.call('ACL', 'SETUSER', ...line.split(' ').slice(1))).toBe('OK');
  const user = new Redis(server.url, {
    username: names[1] ?? '',
    password: passwords()[names[1] ?? ''] ?? '',
  });
  expect(await user.get('lanes:{lane:fix}:x')).toBeNull();
  user.disconnect();
});

it('--apply repairs drift, removes revoked users and says what it did; again, there is nothing to do', async () => {
  await admin.call('ACL', 'SETUSER', 'lane:fix@app', '~*');
  await admin.call('ACL', 'DELUSER', 'main@app');
  await admin.call('ACL', 'SETUSER', 'lane:gone@worker-z', 'on', '>x');
  const first = await redisAcl(['--apply', '--json']);
  expect(JSON.parse(first.stdout)).toEqual({
    made: ['main@app'],
    changed: ['lane:fix@app'],
    removed: expect.arrayContaining(['lane:gone@worker-z']),
  });
  expect(await admin.call('ACL', 'USERS')).toContain('somebody');
  const second = await redisAcl(['--apply']);
  expect([second.code, second.lines]).toEqual([0, ['all 8 users are as they should be']]);
});

it('--credentials writes what one worker is granted, for its owner alone, and never over a file', async () => {
  const file = join(folder, 'worker-a.json');
  expect((await redisAcl(['--credentials', 'worker-a', file])).code).toBe(0);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const [, name = ''] = names;
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    'lane:fix': { user: name, password: passwords()[name] },
  });
  const again = await redisAcl(['--credentials', 'worker-a', file]);
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('is there already')]);
  const stranger = await redisAcl(['--credentials', 'worker-x', join(folder, 'x.json')]);
  expect([stranger.code, stranger.stderr]).toEqual([1, expect.stringContaining('is granted nothing')]);
});

it.each([
  ['two wishes at once', ['--apply', '--lock-default']],
  ['a file for nobody', ['--apply', 'file.json']],
  ['a worker without a file', ['--credentials', 'worker-a']],
  ['an option that is none', ['--revoke']],
])('ends with 2 for %s', async (_, args) => {
  expect((await redisAcl(args)).code).toBe(2);
});

it('ends with 1 where Redis is not there, or refuses', async () => {
  expect((await redisAcl(['--apply'], 'redis://127.0.0.1:9')).code).toBe(1);
  await admin.call('ACL', 'SETUSER', 'poor', 'on', '>pw', '~*', '+@all', '-acl');
  const { port } = new URL(server.url);
  const lock = await redisAcl(['--lock-default'], `redis://poor:pw@127.0.0.1:${port}`);
  expect([lock.code, lock.stderr]).toEqual([1, expect.stringContaining('redis-acl: Redis refused')]);
  expect(await admin.ping()).toBe('PONG');
});

it('--lock-default turns default off, and says where the admin user is kept', async () => {
  admin.disconnect();
  const locked = await redisAcl(['--lock-default', '--json']);
  const told = JSON.parse(locked.stdout);
  expect(told).toMatchObject({ default: 'off', admin: 'lanes-admin', saved: true });
  expect(statSync(told.file).mode & 0o777).toBe(0o600);
  const url = readFileSync(told.file, 'utf8').trim();
  expect(locked.stdout + locked.stderr).not.toContain(new URL(url).password);
  expect((await redisAcl(['--apply'])).code).toBe(1);
  const applied = await redisAcl(['--apply'], url);
  expect([applied.code, applied.lines]).toEqual([0, ['all 8 users are as they should be']]);
});
