/**
 * Tasks a second through admit, claim, begin and record, served as a worker serves them, against bare BullMQ that adds
 * and processes as many empty jobs. Same Redis, same concurrency, in turn; medians.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { type Engine, startEmbeddedRedis } from '../../lanes/index.ts';
import { testEngine } from '../support/engine.ts';
import { callerNamed, lane, met, newTask, result } from '../support/tasks.ts';
import type { BenchRow } from './row.ts';
import { sideBySide } from './side-by-side.ts';

const concurrency = 50;
export const tasksARound = 2_000;
/** A round's rate moves by a fifth with the machine; the medians of this many stand still. */
const rounds = 25;

const warmUpRounds = 3;

/** Measures `task_cycle`. */
export async function benchTaskCycle(): Promise<BenchRow[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'lanes-bench-'));
  const redis = await startEmbeddedRedis({ dataDir });
  const engine = testEngine(redis.url);
  const ours = () => ourRound(engine, tasksARound);
  const peer = () => peerRound(redis.url, tasksARound);
  try {
    const row = { name: 'task_cycle', unit: 'tasks/s', bound: 'ratio >= 0.45' };
    return [await cyclesSideBySide(redis.url, row, ours, peer)];
  } finally {
    await engine.close();
    await redis.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Rounds in turn, each on an empty store: what is measured is the work, not what earlier rounds left behind. */
export async function cyclesSideBySide(
  url: string,
  row: Pick<BenchRow, 'name' | 'unit' | 'bound'>,
  ourRound: () => Promise<number>,
  peerRound: () => Promise<number>,
): Promise<BenchRow> {
  const store = new Redis(url);
  const onEmpty = (round: () => Promise<number>) => () => store.flushdb().then(round);
  const [ours, peer] = [onEmpty(ourRound), onEmpty(peerRound)];
  try {
    // Whole rounds to warm up: the first ones are compiled while they run.
    for (let round = 0; round < warmUpRounds; round += 1) {
      await ours();
      await peer();
    }
    return await sideBySide(row, rounds, ours, peer);
  } finally {
    store.disconnect();
  }
}

/** One round of ours: tasks a second. */
export async function ourRound(engine: Engine, count: number): Promise<number> {
  const app = callerNamed('app');
  const worker = callerNamed('worker-a');
  const end = result([met('c1')], { summary: 'It is done; the unit tests show it.' });
  const finished = countdown(count);
  const start = performance.now();
  await atOnce(count, () => engine.admit(app, newTask()));
  const serving = await engine.serve(worker, lane, {
    lane: 'triage',
    concurrency,
    onTrouble: finished.fail,
    async onWake(id, hold) {
      const claim = await engine.claim(worker, lane, id);
      if (claim.kind !== 'claimed') return;
      const kept = hold.keep(claim.lease);
      await engine.begin(worker, claim.lease);
      await engine.record(worker, claim.lease, claim.task, end);
      kept.stop();
      finished.one();
    },
  });
  await finished.all;
  const rate = rateSince(start, count);
  await serving.close();
  return rate;
}

async function peerRound(url: string, count: number): Promise<number> {
  const open = (): Redis => new Redis(url, { maxRetriesPerRequest: null });
  const forQueue = open();
  const queue = new Queue('bare', { connection: forQueue });
  const finished = countdown(count);
  const options = { removeOnComplete: true, removeOnFail: true };
  const start = performance.now();
  await atOnce(count, () => queue.add('bare', { task: 'task00000001' }, options));
  // As ours does, it connects when it begins to serve.
  const forWorker = open();
  const worker = new Worker('bare', async () => finished.one(), { connection: forWorker, concurrency });
  worker.on('error', finished.fail);
  await finished.all;
  const rate = rateSince(start, count);
  await worker.close();
  await queue.close();
  for (const redis of [forQueue, forWorker]) redis.disconnect();
  return rate;
}

/** Does `count` things, as many at a time as are worked on. */
async function atOnce(count: number, add: () => Promise<unknown>): Promise<void> {
  let left = count;
  const adder = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await add();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, adder));
}

function rateSince(start: number, count: number): number {
  return count / ((performance.now() - start) / 1000);
}

function countdown(count: number): { all: Promise<void>; one(): void; fail(error: Error): void } {
  let left = count;
  let done: () => void = () => {};
  let fail: (error: Error) => void = () => {};
  const all = new Promise<void>((resolve, reject) => {
    done = resolve;
    fail = reject;
  });
  const one = (): void => {
    left -= 1;
    if (left === 0) done();
  };
  return { all, one, fail: (error) => fail(error) };
}
