import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bootstrapSchema } from '../../app/child/messages.ts';
import { openStore, type Store } from '../../app/store.ts';
import { type Credentials, connectWith, readKeyring } from '../../lanes/index.ts';
import { makeRegistry, parseNamespace } from '../../lanes/namespaces.ts';
import { temporaryFolder } from '../lanes/work/support.ts';
import { type OwnRedis, startOwnRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const [fix, docs] = [parseNamespace('lane:fix'), parseNamespace('lane:docs')];
const registry = makeRegistry([fix, docs]);
const grants = new Map([
  ['worker-a', [fix]],
  ['worker-b', [docs]],
]);
const key = 'lanes:{lane:fix}:x';

let dataDir: string;
let opened: Store[];
let logged: string[];
beforeEach(() => {
  dataDir = join(temporaryFolder(), 'var');
  opened = [];
  logged = [];
});
afterEach(async () => {
  for (const store of opened) await store.stop();
});

async function open(
  more: { redisUrl?: string; credentialsFile?: string; grants?: typeof grants } = {},
): Promise<Store> {
  const say = (_: object, message?: string): void => void logged.push(message ?? String(_));
  const store = await openStore({
    config: { dataDir, redisUrl: more.redisUrl ?? null, credentialsFile: more.credentialsFile ?? null },
    operator: { registry, grants: more.grants ?? grants },
    log: { info: say, warn: say } as never,
  });
  opened.push(store);
  return store;
}

/** What a worker with these credentials gets on a key of `lane:fix`. */
async function read(store: Store, credentials: Credentials): Promise<unknown> {
  const redis = connectWith(store.address, credentials)(fix);
  await until('ready', async () => redis.status === 'ready');
  return redis.get(key).finally(() => redis.disconnect());
}

describe('the store that start runs by itself', () => {
  it('has a user for each namespace, kept for its owner alone, and nobody else gets in', async () => {
    const store = await open();
    expect(await read(store, store.credentials)).toBeNull();
    expect(new URL(store.address).username).toBe('');
    const file = join(dataDir, 'redis-users.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readKeyring(dataDir).map(({ name }) => name)).toContain('lane:fix@worker-a');
    const anybody = new Redis(store.address, { lazyConnect: true, retryStrategy: () => null });
    anybody.on('error', () => {});
    await expect(anybody.get(key)).rejects.toThrow(/NOAUTH/);
    anybody.disconnect();
  });

  it('knows its users from the first moment after a death', async () => {
    const store = await open();
    const admin = new Redis(readFileSync(join(dataDir, 'redis.url'), 'utf8').trim(), {
      username: 'lanes-admin',
      password: readFileSync(join(dataDir, 'redis.password'), 'utf8'),
    });
    await until('it has lived for a while', async () =>
      /uptime_in_seconds:[3-9]/.test(await admin.info('server')),
    );
    const pid = Number(/^process_id:(\d+)/m.exec(await admin.info('server'))?.[1]);
    admin.disconnect();
    process.kill(pid, 'SIGKILL');
    await until('it answers again', () =>
      store.ping().then(
        () => true,
        () => false,
      ),
    );
    expect(await read(store, store.credentialsFor('worker-a', [fix]))).toBeNull();
    expect(logged).not.toContain('Redis users were lost or changed, and are made again');
  });

  it('keeps the password of a data directory that has one', async () => {
    const first = await open();
    await first.stop();
    opened.pop();
    const file = join(dataDir, 'redis.password');
    chmodSync(file, 0o600);
    writeFileSync(file, 'an-older-password');
    const store = await open();
    expect(await read(store, store.credentials)).toBeNull();
    expect(readFileSync(file, 'utf8')).toBe('an-older-password');
  });
});

describe('the store on another Redis', () => {
  let server: OwnRedis;
  let admin: Redis;
  beforeEach(async () => {
    server = await startOwnRedis();
    admin = new Redis(server.url);
  });
  afterEach(async () => {
    admin.disconnect();
    await server.stop();
  });

  const usersThere = async (): Promise<string[]> =>
    ((await admin.call('ACL', 'USERS')) as string[]).filter((name) => !name.endsWith('@test')).sort();

  it('is provisioned, leaves default alone, and hands a worker its own credentials', async () => {
    const store = await open({ redisUrl: server.url });
    expect(await usersThere()).toContain('lane:docs@worker-b');
    expect(await admin.ping()).toBe('PONG');
    const handed = store.credentialsFor('worker-a', [fix]);
    expect(Object.entries(handed)).toEqual([
      ['lane:fix', { user: 'lane:fix@worker-a', password: expect.any(String) }],
    ]);
    expect(await read(store, handed)).toBeNull();
    expect(() => connectWith(store.address, handed)(docs)).toThrow(/no Redis user for lane:docs/);
    const { redis } = bootstrapSchema.shape;
    expect(redis.parse({ address: store.address, credentials: handed }).credentials).toEqual(handed);
  });

  it('takes a user away whose grant is gone from the file', async () => {
    await open({ redisUrl: server.url });
    expect(await usersThere()).toContain('lane:fix@worker-a');
    await open({ redisUrl: server.url, grants: new Map([['worker-b', [docs]]]) });
    expect(await usersThere()).not.toContain('lane:fix@worker-a');
    expect(await usersThere()).toContain('lane:docs@worker-b');
    expect(readKeyring(dataDir).map(({ name }) => name)).not.toContain('lane:fix@worker-a');
  });

  it('is refused, in one line, as a user who may not make users', async () => {
    await admin.call('ACL', 'SETUSER', 'poor', 'on', '>pw', '~*', '+@all', '-acl');
    const { port } = new URL(server.url);
    await expect(open({ redisUrl: `redis://poor:pw@127.0.0.1:${port}` })).rejects.toMatchObject({
      code: 'store_refused',
      message: /LANES_CREDENTIALS/,
    });
  });

  it('is used as it is with LANES_CREDENTIALS, without the superuser', async () => {
    const first = await open({ redisUrl: server.url });
    const credentialsFile = join(dataDir, 'handed.json');
    writeFileSync(credentialsFile, JSON.stringify(first.credentials), { mode: 0o600 });
    await first.stop();
    await admin.call('ACL', 'SETUSER', 'default', 'off');
    const before = await admin.call('ACL', 'LIST');
    const store = await open({ redisUrl: server.url, credentialsFile });
    expect(await read(store, store.credentialsFor('worker-a', [fix]))).toBeNull();
    expect(await admin.call('ACL', 'LIST')).toEqual(before);
  });

  it.each<[string, object | string, number, RegExp]>([
    [
      'that others can read',
      { 'lane:fix': { user: 'a', password: 'b' } },
      0o644,
      /can be read by others. Run: chmod 600/,
    ],
    [
      'without a namespace it needs',
      { 'lane:fix': { user: 'a', password: 'b' } },
      0o600,
      /has no user for main, /,
    ],
    ['that is no JSON', 'secret{', 0o600, /is not JSON of the form/],
    [
      'with a namespace that is none',
      { '*': { user: 'a', password: 'b' } },
      0o600,
      /is not JSON of the form/,
    ],
  ])('refuses a credentials file %s', async (_, content, mode, line) => {
    const credentialsFile = join(temporaryFolder(), 'handed.json');
    writeFileSync(credentialsFile, typeof content === 'string' ? content : JSON.stringify(content));
    chmodSync(credentialsFile, mode);
    const refusal = await open({ redisUrl: server.url, credentialsFile }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'invalid_config', problems: [expect.stringMatching(line)] });
    expect(String(refusal)).not.toContain('secret{');
  });
});
