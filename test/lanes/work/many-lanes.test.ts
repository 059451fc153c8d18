import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Engine } from '../../../lanes/index.ts';
import { keyPrefix, type Namespace } from '../../../lanes/namespaces.ts';
import type { Lane } from '../../../lanes/records/config.ts';
import { type RunningWorker, runWorker } from '../../../lanes/work/worker-loop.ts';
import { startOwnRedis, startTestRedis, type TestRedis } from '../../support/redis.ts';
import { callerNamed, newTask } from '../../support/tasks.ts';
import { unlessAway, until } from '../../support/until.ts';
import { build, docs, engineOf, laneIn, main, Runs } from './many-support.ts';

const app = callerNamed('app', [main, docs, build]);

let redis: TestRedis;
let engine: Engine;
let workers: RunningWorker[] = [];

beforeAll(async () => {
  redis = await startTestRedis();
});
afterEach(async () => {
  for (const worker of workers) await worker.close(0);
  workers = [];
  await engine.close();
  const raw = new Redis(redis.url);
  await raw.flushdb();
  raw.disconnect();
});
afterAll(() => redis.stop());

async function start(lanes: readonly Lane[], runs: Runs, identity = 'worker-a'): Promise<void> {
  const caller = callerNamed(identity, [main, docs]);
  const trouble: Error[] = [];
  const onTrouble = (error: Error): unknown => trouble.push(error);
  workers.push(await runWorker({ engine, caller, lanes, supervise: runs.supervise, onTrouble }));
}

async function admit(namespace: Namespace, lane: string): Promise<string> {
  return (await engine.admit(app, newTask({ namespace, lane }))).id;
}

/** Numbers in [0, below) that are the same in each run. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

// No keeper runs in these tests: whatever starts has been started by the worker alone.

test('each of three lanes in one namespace is busy for as long as it has work, oldest first', async () => {
  engine = engineOf(redis.url);
  const random = seeded(7);
  const lanes = [laneIn(main, 'one', 1), laneIn(main, 'two', 2), laneIn(main, 'three', 3)];
  const mixed = Array.from({ length: 60 }, (_, i) => lanes[i % 3]?.name ?? '')
    .map((name) => ({ name, at: random(1_000_000) }))
    .toSorted((a, b) => a.at - b.at);
  const admitted = new Map<string, string[]>(lanes.map(({ name }) => [name, []]));
  for (const { name } of mixed) admitted.get(name)?.push(await admit(main, name));
  const runs = new Runs();
  await start(lanes, runs);
  for (let left = mixed.length; left > 0; left -= 1) {
    for (const { name, concurrency } of lanes) {
      const inLane = admitted.get(name)?.length ?? 0;
      await until(`${name} is busy`, async () => {
        const going = runs.going(name).length;
        const ended = (runs.began.get(name)?.length ?? 0) - going;
        return going === Math.min(concurrency, inLane - ended);
      });
    }
    const going = lanes.flatMap(({ name }) => runs.going(name));
    const ending = going[random(going.length)] ?? '';
    runs.end(ending);
    await until('it has ended', async () => !lanes.some(({ name }) => runs.going(name).includes(ending)));
  }
  for (const { name, concurrency } of lanes) {
    expect(runs.most.get(name)).toBe(concurrency);
    const [began = [], order = []] = [runs.began.get(name), admitted.get(name)];
    expect(began.slice(0, concurrency).toSorted()).toEqual(order.slice(0, concurrency).toSorted());
    expect(began.slice(concurrency)).toEqual(order.slice(concurrency));
  }
});

test('a lane whose runs never end holds up neither its neighbour nor another namespace', async () => {
  engine = engineOf(redis.url);
  const runs = new Runs();
  await start([laneIn(main, 'stuck'), laneIn(main, 'quick'), laneIn(docs, 'docs')], runs);
  for (let i = 0; i < 20; i += 1) await admit(main, 'stuck');
  await until('one is stuck', async () => runs.going('stuck').length === 1);
  for (const [namespace, lane] of [
    [main, 'quick'],
    [docs, 'docs'],
  ] as const) {
    for (let i = 0; i < 5; i += 1) {
      const id = await admit(namespace, lane);
      await until(`${id} runs`, async () => runs.going(lane).includes(id));
      runs.end(id);
    }
  }
  expect(runs.began.get('stuck')).toHaveLength(1);
});

test('what waits for a worker that is full is started by another one at once', async () => {
  engine = engineOf(redis.url);
  const [full, free] = [new Runs(), new Runs()];
  await start([laneIn(main, 'one')], full);
  await admit(main, 'one');
  await until('it is full', async () => full.going('one').length === 1);
  const waiting = await admit(main, 'one');
  await start([laneIn(main, 'one')], free, 'worker-b');
  await until('the other starts it', async () => free.going('one').includes(waiting));
  expect(full.began.get('one')).toHaveLength(1);
});

test('a task that is woken in the queue of another lane runs in its own, and no run is counted for it', async () => {
  engine = engineOf(redis.url);
  const runs = new Runs();
  const id = await admit(main, 'two');
  const queue = new Queue('wake.one', { connection: { url: redis.url }, prefix: keyPrefix(main) });
  await queue.add('wake', { task: id }, { jobId: `gh-${id}-0-9`, removeOnComplete: true });
  await start([laneIn(main, 'one')], runs);
  await until('it was given back', async () => (await engine.get(app, main, id))?.run === 1);
  await start([laneIn(main, 'two')], runs, 'worker-b');
  await until('it runs', async () => runs.going('two').includes(id));
  expect(runs.began.get('one')).toBeUndefined();
  expect(await engine.get(app, main, id)).toMatchObject({ run: 2, runsUsed: 1, claimedBy: 'worker-b' });
  await queue.close();
});

test('a Redis that starts again in the middle of serving three namespaces loses nothing', {
  timeout: 180_000,
}, async () => {
  const own = await startOwnRedis();
  const times = { leaseTtlMs: 30_000, renewEveryMs: 300, stallCheckMs: 500 };
  engine = engineOf(own.url, {}, times);
  const runs = new Runs();
  const places = [main, docs, build].map((namespace) => ({ namespace, lane: `in-${namespace.slice(-4)}` }));
  const caller = callerNamed('worker-a', [main, docs, build]);
  const lanes = places.map(({ namespace, lane }) => laneIn(namespace, lane, 2));
  const worker = await runWorker({ engine, caller, lanes, supervise: runs.supervise, onTrouble: () => {} });
  for (const { namespace, lane } of places) for (let i = 0; i < 5; i += 1) await admit(namespace, lane);
  await until('all are busy', async () => places.every(({ lane }) => runs.going(lane).length === 2));
  await own.kill();
  // These end while there is no Redis to record it.
  for (const { lane } of places) runs.end(runs.going(lane)[0] ?? '');
  await own.start();
  const recorded = async () => {
    for (const { lane } of places) for (const id of runs.going(lane)) runs.end(id);
    const counts = await unlessAway(engine.count(app));
    return counts?.parked === 15;
  };
  // Connections come back one by one, each with a pause of its own.
  await until('all have been recorded', recorded, 120_000);
  for (const { lane } of places) expect(runs.began.get(lane)).toHaveLength(5);
  await worker.close(0);
  await engine.close();
  await own.stop();
});
