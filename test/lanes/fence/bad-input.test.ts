import { Job, Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createEngine, type Engine, openRedis } from '../../../lanes/index.ts';
import { keyPrefix, makeRegistry } from '../../../lanes/namespaces.ts';
import { queueName } from '../../../lanes/queue/wakes.ts';
import { agentLane, testEngine } from '../../support/engine.ts';
import { type OwnRedis, startOwnRedis } from '../../support/redis.ts';
import { callerNamed, crash, lane, met, newTask, result } from '../../support/tasks.ts';
import { unlessAway, until } from '../../support/until.ts';

const app = callerNamed('app', [lane, agentLane]);
const worker = callerNamed('worker-a');
const prefix = keyPrefix(lane);

let server: OwnRedis;
let raw: Redis;
let engine: Engine;
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  server = await startOwnRedis();
  raw = new Redis(server.url, { maxRetriesPerRequest: null });
  engine = testEngine(server.url);
});
afterAll(async () => {
  await engine.close();
  raw.disconnect();
  await server.stop();
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await raw.flushdb();
});

/** Serves the lane as a worker does; what it was woken for is in the answer. */
async function serve(step = async (): Promise<void> => {}): Promise<string[]> {
  const woken: string[] = [];
  const serving = await engine.serve(worker, lane, {
    lane: 'triage',
    concurrency: 3,
    onTrouble: () => {},
    async onWake(id, hold) {
      woken.push(id);
      const claim = await engine.claim(worker, lane, id);
      if (claim.kind !== 'claimed') return;
      hold.keep(claim.lease);
      await step();
      await engine.begin(worker, claim.lease);
      await step();
      await engine.renew(worker, claim.lease, 'half');
      await step();
      await engine.record(worker, claim.lease, claim.task, result([met('c1')]));
    },
  });
  closers.push(() => serving.close());
  return woken;
}

function closing(id: string): Promise<unknown> {
  return until(`${id} is done`, async () => (await engine.get(app, lane, id))?.state === 'closing');
}

describe('names of internal keys', () => {
  it.each(['wait', 'meta', 'events', 'marker', 'id', 'active', '0', '0:1', '123', 'a:b:c', '../epoch', ''])(
    '%j is no id of a task',
    async (id) => {
      const before = await raw.dbsize();
      await expect(engine.admit(app, newTask({ id }))).rejects.toMatchObject({ code: 'invalid_delivery' });
      expect(await engine.claim(worker, lane, id)).toMatchObject({ state: 'missing' });
      expect(await engine.get(worker, lane, id)).toBeNull();
      await expect(engine.retry(app, lane, id)).rejects.toMatchObject({ code: 'unknown_task' });
      expect(await raw.dbsize()).toBe(before);
    },
  );

  it.each(['completed', 'prioritized', 'schedulers', 'waitingchildren', '12345678'])(
    'a task may be called %j, and is run like any other',
    async (id) => {
      await serve();
      await engine.admit(app, newTask({ id }));
      await closing(id);
    },
  );

  it('a planted wake-up for one of them, or for nothing, is used up and does no harm', async () => {
    const queue = new Queue(queueName('triage'), { connection: raw, prefix });
    closers.push(() => queue.close());
    const woken = await serve();
    for (const task of ['meta', '../states', '', 'x'.repeat(10_000)]) await queue.add('wake', { task });
    await queue.add('wake', {});
    await until('all are used up', async () => woken.length === 5 && (await queue.count()) === 0);
    const { id } = await engine.admit(app, newTask());
    await closing(id);
  });
});

describe('the token that needs no lock', () => {
  it('ends a wake-up behind its worker, and the task is not touched by it', async () => {
    let finish = (): void => {};
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    await serve(() => held);
    const { id } = await engine.admit(app, newTask());
    await until('it runs', async () => (await engine.get(app, lane, id))?.state === 'running');
    const before = await raw.dumpBuffer(`${prefix}:task:${id}`);
    const queue = new Queue(queueName('triage'), { connection: raw, prefix });
    closers.push(() => queue.close());
    const wake = await Job.fromId(queue, `gh-${id}-0-1`);
    await wake?.moveToCompleted('stolen', '0', false);
    expect((await raw.dumpBuffer(`${prefix}:task:${id}`)).equals(before)).toBe(true);
    finish();
    await closing(id);
  });

  it('takes a wake-up away, and the keeper gives the task another one', async () => {
    const { id } = await engine.admit(app, newTask());
    const thief = new Worker(queueName('triage'), null, { connection: raw, prefix });
    const job = await thief.getNextJob('0');
    await job?.moveToCompleted('stolen', '0', false);
    await thief.close();
    expect(await engine.get(app, lane, id)).toMatchObject({ state: 'queued', run: 0 });
    expect((await engine.repair(app, lane)).woken).toMatchObject([{ id }]);
    await serve();
    await closing(id);
  });
});

describe('a lane that is taken out of the file', () => {
  it('leaves its task alone, unknown to every caller, until it is put back', async () => {
    const { id } = await engine.admit(app, newTask({ namespace: agentLane }));
    const key = `${keyPrefix(agentLane)}:task:${id}`;
    const before = await raw.dumpBuffer(key);
    const without = createEngine({
      connect: () => openRedis(server.url),
      registry: makeRegistry([lane]),
      id: () => 'x'.repeat(20),
    });
    closers.push(() => without.close());
    const unknown = { code: 'unknown_namespace' };
    await expect(without.get(app, agentLane, id)).rejects.toMatchObject(unknown);
    await expect(without.claimNext(app, agentLane)).rejects.toMatchObject(unknown);
    await expect(without.repair(app, agentLane)).rejects.toMatchObject(unknown);
    expect(await without.pending(app)).toEqual([{ namespace: lane, tasks: 0 }]);
    expect((await raw.dumpBuffer(key)).equals(before)).toBe(true);
    expect(await engine.claimNext(app, agentLane)).toMatchObject({ task: { id } });
  });
});

describe('in the middle of a run', () => {
  it('scripts may be flushed at every step: nothing is lost, nothing happens twice', async () => {
    await serve(async () => void (await raw.script('FLUSH')));
    const tasks = await Promise.all([1, 2, 3].map(() => engine.admit(app, newTask())));
    await raw.script('FLUSH');
    for (const { id } of tasks) await closing(id);
    await raw.script('FLUSH');
    expect(await engine.pending(app, lane)).toEqual([{ namespace: lane, tasks: 0 }]);
    expect((await engine.effects.read(app, lane, '0', { count: 10 })).length).toBe(3);
  });

  it('Redis may be started again: the lease, the progress and a pause are still there', async () => {
    await engine.admit(app, newTask());
    const claim = await engine.claimNext(worker, lane);
    if (claim === null) throw new Error('not claimed');
    await engine.renew(worker, claim.lease, 'half');
    await engine.pause(app, lane);
    await server.kill();
    await server.start();
    const again = () => unlessAway(engine.get(app, lane, claim.task.id));
    expect(await until('it answers', again)).toMatchObject({ state: 'running', progress: 'half' });
    expect(await engine.claimNext(worker, lane)).toBeNull();
    const recorded = await engine.record(worker, claim.lease, claim.task, crash);
    expect(recorded).toMatchObject({ state: 'queued', runsUsed: 1 });
  });
});
