import { once } from 'node:events';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEngine, openRedis } from '../../../../lanes/index.ts';
import { adminUrl, lockDefault } from '../../../../lanes/store/access/admin.ts';
import { guardUsers } from '../../../../lanes/store/access/guard.ts';
import { credentialsOf } from '../../../../lanes/store/access/keyring.ts';
import { isChange, type Provisioned, provision } from '../../../../lanes/store/access/provision.ts';
import type { RedisUser } from '../../../../lanes/store/access/rule.ts';
import { connectWith } from '../../../../lanes/store/connect.ts';
import { agentLane, registry } from '../../../support/engine.ts';
import { type OwnRedis, startOwnRedis } from '../../../support/redis.ts';
import { makeUsers, settle } from '../../../support/redis-users.ts';
import { callerNamed, lane, met, newTask, result } from '../../../support/tasks.ts';
import { unlessAway, until } from '../../../support/until.ts';

let server: OwnRedis;
let admin: Redis;
let users: RedisUser[];
beforeEach(async () => {
  server = await startOwnRedis();
  admin = openRedis(server.url);
  users = [...makeUsers('app', [lane, agentLane]), ...makeUsers('worker-a', [lane])];
  await provision(admin, users, settle);
});
afterEach(async () => {
  admin.disconnect();
  await server.stop();
});

const mine = 'lane:triage@worker-a';

async function lines(): Promise<string[]> {
  return ((await admin.call('ACL', 'LIST')) as string[]).sort();
}

function open({ name, password }: RedisUser): Redis {
  const redis = new Redis(server.url, {
    username: name,
    password,
    retryStrategy: () => null,
    disableClientInfo: true,
  });
  return redis.on('error', () => {});
}

const theOne = (): RedisUser => users.find(({ name }) => name === mine) ?? expect.unreachable();
const nothing = { made: [], changed: [], removed: [] };

describe('provisioning', () => {
  it('makes a user for each namespace and identity, and Redis knows hashes only', async () => {
    const told = await lines();
    for (const { name, password } of users) {
      expect(told.filter((line) => line.startsWith(`user ${name} on `))).toHaveLength(1);
      expect(told.join()).not.toContain(password);
    }
    expect(await open(theOne()).get('lanes:{lane:triage}:x')).toBeNull();
  });

  it('changes nothing where everything is right', async () => {
    const before = await lines();
    expect(await provision(admin, users, settle)).toEqual(nothing);
    expect(await lines()).toEqual(before);
  });

  it.each<[string, string[]]>([
    ['off', ['off']],
    ['wider keys', ['~*']],
    ['other keys', ['resetkeys', '~x']],
    ['more commands', ['+@all']],
    ['fewer commands', ['-get']],
    ['channels', ['&*']],
    ['no password', ['nopass']],
    ['another password', ['resetpass', '>other']],
    ['a selector', ['(~* +@all)']],
  ])('puts a user right that has %s', async (_, drift) => {
    const before = await lines();
    await admin.call('ACL', 'SETUSER', mine, ...drift);
    expect(await lines()).not.toEqual(before);
    const did = await provision(admin, users, { ...settle, onlyOurPasswords: true });
    expect(did).toEqual({ ...nothing, changed: [mine] });
    expect(await lines()).toEqual(before);
  });

  it('makes a user again that is gone', async () => {
    await admin.call('ACL', 'DELUSER', mine);
    expect(await provision(admin, users, settle)).toEqual({ ...nothing, made: [mine] });
  });

  it('removes a user whose grant is gone, and its live connection dies', async () => {
    const live = open(theOne());
    await live.get('lanes:{lane:triage}:x');
    const ended = once(live, 'end');
    const left = users.filter(({ name }) => name !== mine);
    expect(await provision(admin, left, settle)).toEqual({ ...nothing, removed: [mine] });
    await ended;
    const again = open(theOne());
    await expect(again.get('lanes:{lane:triage}:x')).rejects.toThrow(/closed|WRONGPASS/);
  });

  it('leaves users alone that are not ours', async () => {
    for (const name of ['somebody', 'mains@app', 'LANE:a@b'])
      await admin.call('ACL', 'SETUSER', name, 'on', '>x');
    const before = await lines();
    expect(await provision(admin, [], settle)).toMatchObject({ made: [], changed: [] });
    const others = before.filter((line) => /^user (?:somebody|mains@app|LANE:a@b|default) /.test(line));
    expect(await lines()).toEqual(others);
  });

  it('lets two Apps with passwords of their own in, until one asks for its own alone', async () => {
    const [first, second] = [makeUsers('app', [lane]), makeUsers('app', [lane])];
    const admins = [openRedis(server.url), openRedis(server.url)] as const;
    await Promise.all([provision(admins[0], first, settle), provision(admins[1], second, settle)]);
    const [a, b] = [first[0], second[0]];
    if (a === undefined || b === undefined) return expect.unreachable();
    const key = 'lanes:{lane:triage}:x';
    expect(await Promise.all([open(a).get(key), open(b).get(key)])).toEqual([null, null]);
    await provision(admins[0], first, { ...settle, onlyOurPasswords: true });
    expect(await open(a).get(key)).toBeNull();
    await expect(open(b).get(key)).rejects.toThrow(/closed|WRONGPASS/);
    for (const one of admins) one.disconnect();
  });

  it('done twice at once is as done once', async () => {
    await provision(admin, [], settle);
    const other = openRedis(server.url);
    await Promise.all([provision(admin, users, settle), provision(other, users, settle)]);
    expect(await provision(admin, users, settle)).toEqual(nothing);
    other.disconnect();
  });

  it('outlasts a restart where Redis has an aclfile', async () => {
    const before = await lines();
    expect(await admin.call('ACL', 'LOAD')).toBe('OK');
    expect(await lines()).toEqual(before);
  });

  it('by a user who may not is store_refused', async () => {
    const worker = openRedis(server.url, { username: mine, password: theOne().password });
    await expect(provision(worker, users, settle)).rejects.toMatchObject({ code: 'store_refused' });
    worker.disconnect();
  });
});

describe('users that get lost while a worker serves', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['Redis starts again without them', () => server.kill().then(() => server.start('lost'))],
    ['somebody deletes them', () => admin.call('ACL', 'DELUSER', ...users.map(({ name }) => name))],
  ])('are refused, made again, and the work goes on: %s', async (_, lose) => {
    const mended: Provisioned[] = [];
    const engineOf = (identity: string) =>
      createEngine({
        connect: connectWith(server.url, credentialsOf(users, identity)),
        registry,
        id: () => crypto.randomUUID(),
      });
    const [app, worker] = [engineOf('app'), engineOf('worker-a')];
    const [asApp, asWorker] = [callerNamed('app'), callerNamed('worker-a')];
    const task = await app.admit(asApp, newTask());
    const claim = await worker.claim(asWorker, lane, task.id);
    if (claim.kind !== 'claimed') return expect.unreachable();
    let present = false;
    const guard = guardUsers({
      ...{ admin: openRedis(server.url), db: 0, everyMs: 20 },
      users: () => (present ? users : []),
      onMended: (did) => mended.push(did),
      onTrouble: () => {},
    });
    await lose();
    const refusal = await until('it is refused', async () =>
      app.get(asApp, lane, task.id).then(
        () => false,
        (error: { code?: string }) => error.code === 'store_refused' && error.code,
      ),
    );
    expect(refusal).toBe('store_refused');
    present = true;
    await until('they are made again', async () => mended.length > 0);
    expect(mended[0]?.made).toHaveLength(users.length);
    const recorded = await until('the run is recorded', () =>
      unlessAway(worker.record(asWorker, claim.lease, claim.task, result([met('c1')]))),
    );
    expect(recorded).toMatchObject({ state: 'closing', run: 1 });
    await guard.stop();
    await Promise.all([app.close(), worker.close()]);
  });

  it('and one that left the keyring is removed by the guard', async () => {
    let wanted = users;
    const mended: Provisioned[] = [];
    const guard = guardUsers({
      ...{ admin: openRedis(server.url), db: 0, everyMs: 20 },
      users: () => wanted,
      onMended: (did) => mended.push(did),
      onTrouble: () => {},
    });
    await admin.call('ACL', 'DELUSER', mine);
    await until('it looks', async () => mended.length === 1);
    wanted = users.filter(({ name }) => name !== mine);
    await until('it is gone', async () => mended.length === 2);
    expect(mended.map((did) => [did.made, did.removed])).toEqual([
      [[mine], []],
      [[], [mine]],
    ]);
    expect(mended.every(isChange)).toBe(true);
    await guard.stop();
  });
});

describe('locking default', () => {
  const url = () => adminUrl(server.url, 'a password of the admin user');

  it('turns it off once the admin user works, and cuts off who is in as default', async () => {
    const superuser = openRedis(server.url);
    const visitor = open({ ...theOne(), name: 'default', password: '' });
    await visitor.ping();
    const ended = once(visitor, 'end');
    expect(await lockDefault(superuser, url())).toBe(true);
    await ended;
    await expect(open({ ...theOne(), name: 'default', password: '' }).ping()).rejects.toThrow();
    const fresh = openRedis(url());
    await until('ready', async () => fresh.status === 'ready');
    expect(await provision(fresh, users, settle)).toEqual(nothing);
    fresh.disconnect();
    superuser.disconnect();
  });

  it('leaves it on where the admin user cannot log in', async () => {
    await until('ready', async () => admin.status === 'ready');
    await admin.config('SET', 'maxclients', 1);
    await expect(lockDefault(admin, url())).rejects.toMatchObject({ code: /store_/ });
    await admin.config('SET', 'maxclients', 100);
    expect(await lines()).toContainEqual(expect.stringMatching(/^user default on nopass /));
  });
});
