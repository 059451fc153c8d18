import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyPrefix, type Namespace, parseNamespace } from '../../../../lanes/namespaces.ts';
import { isOurUser, ruleFor, userName } from '../../../../lanes/store/access/rule.ts';
import { toLaneError } from '../../../../lanes/store/answers.ts';
import { agentLane } from '../../../support/engine.ts';
import { type OwnRedis, startOwnRedis } from '../../../support/redis.ts';
import { testCredential } from '../../../support/redis-users.ts';
import { lane } from '../../../support/tasks.ts';

const other = (name: string): string => `${keyPrefix(agentLane)}:${name}`;
const own = (name: string): string => `${keyPrefix(lane)}:${name}`;

let server: OwnRedis;
let admin: Redis;
let user: Redis;
beforeAll(async () => {
  server = await startOwnRedis();
  admin = new Redis(server.url);
  user = new Redis(server.url, { ...testCredential(lane), disableClientInfo: true });
  await admin.set(other('text'), 'theirs');
  await admin.hset(other('hash'), 'a', 'theirs');
  await admin.rpush(other('list'), 'theirs');
  await admin.zadd(other('sorted'), 1, 'theirs');
  await admin.sadd(other('set'), 'theirs');
  await admin.xadd(other('stream'), '*', 'a', 'theirs');
});
afterAll(async () => {
  admin.disconnect();
  user.disconnect();
  await server.stop();
});

/** Redis's answer to the namespace's user, or what we make of its refusal. */
async function say(...command: string[]): Promise<unknown> {
  const [name = '', ...args] = command;
  return user.call(name, ...args).catch((error: Error) => toLaneError(error).code);
}

describe('the user of one namespace, on another one', () => {
  it.each<string[]>([
    ['GET', other('text')],
    ['SET', other('text'), 'x'],
    ['DEL', other('text')],
    ['UNLINK', other('text')],
    ['EXISTS', other('text')],
    ['TYPE', other('text')],
    ['TTL', other('text')],
    ['DUMP', other('text')],
    ['OBJECT', 'ENCODING', other('text')],
    ['MEMORY', 'USAGE', other('text')],
    ['RENAME', own('a'), other('a')],
    ['RENAME', other('text'), own('a')],
    ['COPY', other('text'), own('a')],
    ['MSET', own('a'), '1', other('a'), '1'],
    ['HGETALL', other('hash')],
    ['HSET', other('hash'), 'a', 'x'],
    ['LRANGE', other('list'), '0', '-1'],
    ['LPOP', other('list')],
    ['RPOPLPUSH', other('list'), own('list')],
    ['LMOVE', own('list'), other('list'), 'LEFT', 'LEFT'],
    ['BLPOP', other('list'), '1'],
    ['ZRANGE', other('sorted'), '0', '-1'],
    ['ZADD', other('sorted'), '1', 'x'],
    ['ZPOPMIN', other('sorted')],
    ['BZPOPMIN', other('sorted'), '1'],
    ['ZUNIONSTORE', own('sorted'), '1', other('sorted')],
    ['ZRANGESTORE', other('sorted'), own('sorted'), '0', '-1'],
    ['SMEMBERS', other('set')],
    ['SUNION', own('set'), other('set')],
    ['SMOVE', other('set'), own('set'), 'theirs'],
    ['SSCAN', other('set'), '0'],
    ['PFMERGE', own('a'), other('text')],
    ['GEORADIUS', own('geo'), '0', '0', '1', 'm', 'STORE', other('geo')],
    ['XREAD', 'STREAMS', other('stream'), '0'],
    ['XRANGE', other('stream'), '-', '+'],
    ['XADD', other('stream'), '*', 'a', 'x'],
    ['XDEL', other('stream'), '1-1'],
    ['XGROUP', 'CREATE', other('stream'), 'g', '0'],
    ['XREADGROUP', 'GROUP', 'g', 'c', 'STREAMS', other('stream'), '>'],
    ['XINFO', 'STREAM', other('stream')],
    ['EVAL', "return redis.call('GET', KEYS[1])", '1', other('text')],
    ['EVAL', `return redis.call('GET', '${other('text')}')`, '0'],
    ['EVAL', "return redis.call('GET', ARGV[1])", '0', other('text')],
    ['EVAL', "return redis.call('DEL', ARGV[1])", '1', own('a'), other('text')],
    ['EVAL', "return redis.call('KEYS', '*')", '0'],
    ['EVAL', "return redis.call('SCAN', '0')", '0'],
    ['EVAL', "return redis.call('FLUSHALL')", '0'],
    ['EVAL', "return redis.call('PUBLISH', 'a', 'b')", '0'],
    ['EVAL_RO', "return redis.call('GET', KEYS[1])", '1', other('text')],
  ])('is refused: %s %s %s %s', async (...command) => {
    expect(await say(...command)).toBe('store_refused');
  });

  it('has changed nothing', async () => {
    expect(await admin.get(other('text'))).toBe('theirs');
    expect((await admin.keys('*')).sort()).toEqual(
      ['hash', 'list', 'set', 'sorted', 'stream', 'text'].map(other),
    );
  });
});

describe('the user of a namespace', () => {
  it.each<string[]>([
    ['SCAN', '0'],
    ['KEYS', '*'],
    ['RANDOMKEY'],
    ['DBSIZE'],
    ['FLUSHALL'],
    ['FLUSHDB'],
    ['SWAPDB', '0', '1'],
    ['SELECT', '1'],
    ['CONFIG', 'GET', '*'],
    ['CONFIG', 'SET', 'maxclients', '1'],
    ['CONFIG', 'REWRITE'],
    ['ACL', 'LIST'],
    ['ACL', 'SETUSER', 'x'],
    ['ACL', 'DELUSER', 'x'],
    ['ACL', 'SAVE'],
    ['SCRIPT', 'FLUSH'],
    ['SCRIPT', 'KILL'],
    ['SCRIPT', 'LOAD', 'return 1'],
    ['FUNCTION', 'FLUSH'],
    ['FUNCTION', 'LIST'],
    ['FUNCTION', 'LOAD', '#!lua name=a'],
    ['FCALL', 'a', '0'],
    ['SUBSCRIBE', other('x')],
    ['PSUBSCRIBE', '*'],
    ['SSUBSCRIBE', other('x')],
    ['PUBLISH', other('x'), 'a'],
    ['SPUBLISH', other('x'), 'a'],
    ['MONITOR'],
    ['CLIENT', 'LIST'],
    ['CLIENT', 'KILL', 'ID', '1'],
    ['CLIENT', 'PAUSE', '1'],
    ['CLIENT', 'NO-EVICT', 'on'],
    ['SHUTDOWN'],
    ['SAVE'],
    ['BGREWRITEAOF'],
    ['REPLICAOF', 'no', 'one'],
    ['SYNC'],
    ['MIGRATE', '127.0.0.1', '1', 'k', '0', '1'],
    ['RESTORE', own('a'), '0', 'x'],
    ['SORT', own('list')],
    ['MODULE', 'LIST'],
    ['SLOWLOG', 'GET'],
    ['LATENCY', 'DOCTOR'],
    ['COMMAND'],
    ['CLUSTER', 'INFO'],
    ['WAIT', '0', '1'],
    ['LOLWUT'],
  ])('may not say %s %s', async (...command) => {
    expect(await say(...command)).toBe('store_refused');
  });

  it('works on its own keys', async () => {
    expect(await say('SET', own('a'), '1')).toBe('OK');
    expect(await say('EVAL', "return redis.call('GET', KEYS[1])", '1', own('a'))).toBe('1');
    expect(await say('DEL', own('a'))).toBe(1);
  });

  it('is nobody after RESET where default is off', async () => {
    await admin.call('ACL', 'SETUSER', 'default', 'off');
    const one = new Redis(server.url, { ...testCredential(lane), disableClientInfo: true });
    await one.call('RESET');
    await expect(one.call('GET', other('text'))).rejects.toThrow(/NOAUTH/);
    one.disconnect();
    await admin.call('ACL', 'SETUSER', 'default', 'on');
  });
});

describe('a namespace that would reach others', () => {
  it.each([
    '*',
    'lane:*',
    'lane:a}:*',
    'lane:{a}',
    'lane:?',
    'lane:[a-z]',
    'lane:a ~*',
    'lane:a\n',
    'LANE:a',
    '',
  ])('has no user and no rule: %j', (text) => {
    const unchecked = text as Namespace;
    expect(() => userName({ namespace: unchecked, identity: 'app' })).toThrow(/namespace/);
    expect(() => ruleFor(unchecked, 0)).toThrow(/namespace/);
  });

  it.each(['a b', 'a\n', '', 'a"', "a'", 'é', 'a'.repeat(101), 'a>b', '+@all'])(
    'and a worker whose name would be a rule has no user: %j',
    (identity) => {
      expect(() => userName({ namespace: lane, identity })).toThrow(/letters, digits/);
    },
  );
});

it('a user is ours by its name, and no other is', () => {
  const names = ['main@app', 'lane:a@w', 'agent:42@box-42', 'broker:github@app', 'lane:a.b-c@w@x'];
  expect(names.filter(isOurUser)).toEqual(names);
  expect(
    ['default', 'lanes-admin', 'main', 'lane:a', 'mains@app', 'x@main@app', 'lane:A@w'].filter(isOurUser),
  ).toEqual([]);
});

it('a store in another logical database lets its users select that one only', async () => {
  const rule = ruleFor(parseNamespace('lane:db'), 9);
  await admin.call('ACL', 'SETUSER', 'lane:db@test', 'on', '>pw', ...rule);
  const one = new Redis(server.url, {
    username: 'lane:db@test',
    password: 'pw',
    db: 9,
    disableClientInfo: true,
  });
  expect(await one.set('lanes:{lane:db}:a', '1')).toBe('OK');
  await expect(one.select(0)).rejects.toThrow(/NOPERM/);
  one.disconnect();
  await admin.call('ACL', 'DELUSER', 'lane:db@test');
});
