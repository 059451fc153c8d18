import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Engine, isLaneError, type RefusalEvent } from '../../../lanes/index.ts';
import type { Namespace } from '../../../lanes/namespaces.ts';
import { type RunningWorker, runWorker } from '../../../lanes/work/worker-loop.ts';
import { grantUser } from '../../support/acl.ts';
import { type OwnRedis, startOwnRedis } from '../../support/redis.ts';
import { callerNamed, newTask } from '../../support/tasks.ts';
import { unlessAway, until } from '../../support/until.ts';
import { build, docs, engineOf, laneIn, main, Runs } from './many-support.ts';

const app = callerNamed('app', [main, docs, build]);
const user = { username: 'main@worker-a', password: 'secret' };
const lanes = [laneIn(main, 'one'), laneIn(main, 'two', 2), laneIn(docs, 'docs')];

let redis: OwnRedis;
let admin: Redis;
/** The App's, with the superuser. */
let theirs: Engine;
let engine: Engine;
let worker: RunningWorker;
let trouble: Error[];
/** What the engine was refused. */
let refusals: RefusalEvent[];
let runs: Runs;
/** Ends of the waits that go on. */
let waits: (() => void)[];
/** How long it wanted to wait, each time, in ms. */
let pauses: number[];

beforeEach(async () => {
  redis = await startOwnRedis();
  // Quiet while a test has taken Redis away.
  admin = new Redis(redis.url).on('error', () => {});
  theirs = engineOf(redis.url);
  runs = new Runs();
  [trouble, refusals, waits, pauses] = [[], [], [], []];
});
afterEach(async () => {
  await worker.close(0);
  await Promise.all([engine.close(), theirs.close()]);
  admin.disconnect();
  await redis.stop();
});

async function start(password = user.password): Promise<void> {
  const times = { leaseTtlMs: 30_000, renewEveryMs: 200, stallCheckMs: 500 };
  const onRefusal = (refusal: RefusalEvent): unknown => refusals.push(refusal);
  engine = engineOf(redis.url, { [main]: { ...user, password } }, { ...times, onRefusal });
  worker = await runWorker({
    engine,
    caller: callerNamed('worker-a', [main, docs]),
    lanes,
    supervise: runs.supervise,
    onTrouble: (error) => trouble.push(error),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        pauses.push(ms);
        waits.push(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      }),
  });
}

const grant = (): Promise<void> => grantUser(admin, user, main);

async function admit(namespace: Namespace, lane: string): Promise<string> {
  return (await theirs.admit(app, newTask({ namespace, lane }))).id;
}

/** Admits a task and waits until the worker runs it. */
async function works(namespace: Namespace, lane: string): Promise<void> {
  const id = await admit(namespace, lane);
  await until(`${id} runs in ${lane}`, async () => runs.going(lane).includes(id));
  runs.end(id);
}

/** The same after a refusal: connections come back one after the other, and may be refused once more. */
async function worksAgain(namespace: Namespace, lane: string): Promise<void> {
  const id = await until('a task is admitted', () => unlessAway(admit(namespace, lane)));
  await goesOn(id, lane);
}

async function goesOn(id: string, lane: string): Promise<void> {
  await until(`${id} runs in ${lane}`, async () => {
    waits.pop()?.();
    return runs.going(lane).includes(id);
  });
}

/** What was told of refusals. Redis closes the connections of a user that goes, and that may be told of before. */
const told = () => trouble.filter((error) => isLaneError(error, 'store_refused'));

const untilLeftAlone = () => until('it is left alone', async () => waits.length === 1);

/** What Redis is asked in one second by its own clock: calls that it refused, and connections. */
async function inOneSecond(): Promise<{ refused: number; connections: number }> {
  await admin.config('RESETSTAT');
  const nowMs = async () => Number((await admin.time())[0]) * 1_000 + Number((await admin.time())[1]) / 1_000;
  const end = (await nowMs()) + 1_000;
  await until('a second has passed', async () => (await nowMs()) > end);
  const commands = await admin.info('commandstats');
  const refused = [...commands.matchAll(/(?:rejected|failed)_calls=(\d+)/g)];
  const connections = /total_connections_received:(\d+)/.exec(await admin.info('stats'));
  return {
    refused: refused.reduce((sum, [, calls]) => sum + Number(calls), 0),
    connections: Number(connections?.[1]),
  };
}

const wayOfRefusal: [string, () => Promise<unknown>][] = [
  ['its user is deleted', () => admin.call('ACL', 'DELUSER', user.username)],
  ['its user loses its keys', () => admin.call('ACL', 'SETUSER', user.username, 'resetkeys')],
  ['its user loses its commands', () => admin.call('ACL', 'SETUSER', user.username, '-@all')],
];

describe.each(wayOfRefusal)('a namespace in the middle of serving, where %s', (_name, refuse) => {
  test('is closed, told of once and left alone; the others go on, and it comes back when it is granted', async () => {
    await grant();
    await start();
    await works(main, 'one');
    await refuse();
    await untilLeftAlone();
    expect(told()).toMatchObject([{ message: expect.stringContaining('(main is') }]);
    expect(refusals).toContainEqual(
      expect.objectContaining({ verb: 'serve', namespace: main, by: 'worker-a' }),
    );
    expect(refusals.every(({ namespace, code }) => namespace === main && code === 'store_refused')).toBe(
      true,
    );
    const heard = refusals.length;
    const asked = await inOneSecond();
    expect(refusals).toHaveLength(heard);
    // One connection of verbs tries to log in, ever more rarely; nothing else asks.
    expect(asked.refused).toBeLessThanOrEqual(10);
    expect(asked.connections).toBeLessThanOrEqual(10);
    await works(docs, 'docs');
    const waiting = await admit(main, 'two');

    waits.pop()?.();
    await untilLeftAlone();
    expect(told()).toHaveLength(1);
    expect(runs.began.get('two')).toBeUndefined();

    await grant();
    await goesOn(waiting, 'two');
    await works(main, 'one');
    expect(told()).toHaveLength(1);
  });
});

test('a namespace whose password is wrong from the start is told of once, and the others are served', async () => {
  await grant();
  await start('wrong');
  await untilLeftAlone();
  expect(told()).toHaveLength(1);
  expect((await inOneSecond()).refused).toBeLessThanOrEqual(10);
  await works(docs, 'docs');
  await admin.call('ACL', 'SETUSER', user.username, '>wrong');
  await worksAgain(main, 'two');
});

test('a worker that ends while a namespace is left alone does not wait for it', async () => {
  await start();
  await untilLeftAlone();
  await worker.close(60_000);
  expect(told()).toHaveLength(1);
});

test('a run in hand when its user is deleted is stopped, and nothing is recorded for it', async () => {
  await grant();
  await start();
  const id = await admit(main, 'one');
  await until('it runs', async () => runs.going('one').includes(id));
  const before = await theirs.get(app, main, id);
  await admin.call('ACL', 'DELUSER', user.username);
  await untilLeftAlone();
  expect(runs.going('one')).toEqual([]);
  expect(await theirs.get(app, main, id)).toEqual({ ...before, lease: expect.anything() });
});

test('a namespace that stays refused is asked for at a pace that slows down to 30 s', async () => {
  await start();
  for (let asked = 1; asked <= 8; asked += 1) {
    await until('it waits', async () => pauses.length === asked);
    waits.pop()?.();
  }
  expect(pauses.slice(0, 8)).toEqual([1, 2, 4, 8, 16, 30, 30, 30].map((seconds) => seconds * 1_000));
  expect(told()).toHaveLength(1);
});

test('a Redis that comes back without its users is served again once they are there', async () => {
  await grant();
  await start();
  await works(main, 'one');
  await redis.kill();
  await redis.start();
  await untilLeftAlone();
  await grant();
  await worksAgain(main, 'two');
  await worksAgain(docs, 'docs');
  expect(told()).toHaveLength(1);
});
