import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, openRedis } from '../../../lanes/index.ts';
import { keyPrefix, type Namespace } from '../../../lanes/namespaces.ts';
import { toLaneError } from '../../../lanes/store/answers.ts';
import { makeUser, type User } from '../../support/acl.ts';
import { agentLane, testEngine } from '../../support/engine.ts';
import { type OwnRedis, startOwnRedis } from '../../support/redis.ts';
import { callerNamed, lane, newTask } from '../../support/tasks.ts';
import { type Mutant, makeMutant } from './mutant.ts';

let server: OwnRedis;
let admin: Redis;
let engine: Engine;
let users: Map<Namespace, User>;
let mutant: Mutant;
/** The same worker, in a namespace that is its own: what it does there works. */
let entitled: Mutant;
let before: Record<string, string>;

beforeAll(async () => {
  server = await startOwnRedis();
  admin = new Redis(server.url);
  users = new Map();
  for (const ns of [lane, agentLane]) users.set(ns, await makeUser(admin, ns));
  engine = testEngine(server.url, { connect: (ns) => openRedis(server.url, userOf(ns)) });
  const app = callerNamed('app', [lane, agentLane]);
  const theirs = await engine.admit(app, newTask({ namespace: agentLane }));
  const own = await engine.admit(app, newTask());
  const jobOf = (id: string): string => `gh-${id}-0-1`;
  mutant = makeMutant(server.url, userOf(lane), agentLane, theirs.id, jobOf(theirs.id));
  entitled = makeMutant(server.url, userOf(lane), lane, own.id, jobOf(own.id));
  before = await snapshot(agentLane);
});
afterAll(async () => {
  await mutant.close();
  await entitled.close();
  await engine.close();
  admin.disconnect();
  await server.stop();
});

function userOf(ns: Namespace): User {
  const user = users.get(ns);
  if (user === undefined) throw new Error(`no user of ${ns}`);
  return user;
}

/** Every key of a namespace, byte by byte. */
async function snapshot(ns: Namespace): Promise<Record<string, string>> {
  const keys = (await admin.keys(`${keyPrefix(ns)}:*`)).sort();
  const dumps = await Promise.all(keys.map((key) => admin.dumpBuffer(key)));
  return Object.fromEntries(keys.map((key, i) => [key, dumps[i]?.toString('hex') ?? '']));
}

/** What Redis answered, as the engine names it; `ok` where it did what was asked. */
async function answerOf(attempt: (() => Promise<unknown>) | undefined): Promise<string> {
  try {
    await attempt?.();
    return 'ok';
  } catch (error) {
    return toLaneError(error).code;
  }
}

/** What worked and what did not, by name. */
async function tryAll({ attempts }: Mutant, names: readonly string[]): Promise<Record<string, string>> {
  const answers: Record<string, string> = {};
  for (const name of names) answers[name] = await answerOf(attempts[name]);
  return answers;
}

const all = (names: readonly string[], answer: string): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, answer]));

describe('a worker that checks nothing, with the user of another namespace', () => {
  it('is refused by Redis itself, whatever it tries, and changes nothing', async () => {
    const names = Object.keys(mutant.attempts);
    expect(names.length).toBeGreaterThan(75);
    expect(await tryAll(mutant, names)).toEqual(all(names, 'store_refused'));
    expect(await snapshot(agentLane)).toEqual(before);
  });
});

describe('the same worker in its own namespace', () => {
  it('does all of it, so that it is the namespace which stops it', async () => {
    const names = [
      'count',
      'count of waiting',
      'peek',
      'list',
      'add',
      'add many',
      'events',
      'claim',
      'change data',
      'progress',
      'log',
      'scheduler',
      'look for stalled jobs',
      'pause',
      'drain',
      'clean',
      'HGETALL :task:<task>',
      'ZRANGE :states 0 -1',
      'XRANGE :effects - +',
      'EVAL with the key declared',
      'EVAL with an undeclared key',
      'EVAL that writes to an undeclared key',
      'obliterate',
    ];
    expect(await tryAll(entitled, names)).toEqual(all(names, 'ok'));
  });
});
