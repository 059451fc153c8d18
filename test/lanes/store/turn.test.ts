import type { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Engine } from '../../../lanes/index.ts';
import type { Claimed } from '../../../lanes/verbs.ts';
import { agentLane, testEngine } from '../../support/engine.ts';
import type { TestRedis } from '../../support/redis.ts';
import { alice, callerNamed, crash, lane, met, newTask, result } from '../../support/tasks.ts';
import { until } from '../../support/until.ts';
import { useEngine } from '../../support/use-engine.ts';

const app = callerNamed('app', [lane, agentLane]);
const worker = callerNamed('worker-a');
const box = callerNamed('box-42', [agentLane]);

let server: TestRedis;
let raw: Redis;
let engine: Engine;
const closers: (() => Promise<void>)[] = [];

useEngine((opened) => {
  ({ server, raw, engine } = opened);
});
beforeEach(async () => {
  await raw.flushdb();
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function next(caller = worker): Promise<Claimed> {
  const claimed = await engine.claimNext(caller, lane);
  if (claimed === null) throw new Error('nothing to claim');
  return claimed;
}

/** Serves the lane and finishes what it claims; the tasks that it was woken for are in the answer. */
async function serve(): Promise<string[]> {
  const woken: string[] = [];
  const serving = await engine.serve(worker, lane, {
    lane: 'triage',
    concurrency: 1,
    onTrouble: () => {},
    async onWake(id) {
      const claim = await engine.claim(worker, lane, id);
      woken.push(id);
      if (claim.kind !== 'claimed') return;
      await engine.record(worker, claim.lease, claim.task, result([met('c1')]));
    },
  });
  closers.push(() => serving.close());
  return woken;
}

async function lastEvent(): Promise<object | undefined> {
  return (await engine.ledger.read(app, lane, '0', 100)).at(-1)?.event;
}

describe('the pending count', () => {
  it('is of queued tasks that may start now', async () => {
    await engine.admit(app, newTask());
    await engine.admit(app, newTask());
    await engine.admit(app, newTask({ parked: { reason: 'no_criteria', detail: '' } }));
    expect(await engine.pending(worker, lane)).toEqual([{ namespace: lane, tasks: 2 }]);
    const { task, lease } = await next();
    await engine.record(worker, lease, task, crash);
    expect(await engine.count(worker, lane)).toMatchObject({ queued: 2 });
    expect(await engine.pending(worker, lane)).toEqual([{ namespace: lane, tasks: 1 }]);
  });

  it("has a line for each of the caller's namespaces, fleet namespaces left out", async () => {
    await engine.admit(app, newTask({ namespace: agentLane }));
    expect(await engine.pending(app)).toEqual([{ namespace: lane, tasks: 0 }]);
    expect(await engine.pending(box)).toEqual([]);
    expect(await engine.pending(box, agentLane)).toEqual([{ namespace: agentLane, tasks: 1 }]);
  });
});

describe('the next claim', () => {
  it('is of the task that is due first, as the caller', async () => {
    const first = await engine.admit(app, newTask());
    await engine.admit(app, newTask());
    const key = `lanes:{${lane}}:states`;
    await raw.zadd(key, first.notBeforeMs - 1_000, first.id);
    const { task, lease } = await next();
    expect(task).toMatchObject({ id: first.id, state: 'running', claimedBy: 'worker-a', fence: 1 });
    expect(lease.worker).toBe('worker-a');
  });

  it('is null where nothing may start', async () => {
    expect(await engine.claimNext(worker, lane)).toBeNull();
    const { id } = await engine.admit(app, newTask());
    const { task, lease } = await next();
    expect(task.id).toBe(id);
    await engine.record(worker, lease, task, crash);
    expect(await engine.claimNext(worker, lane)).toBeNull();
  });

  it('is of one that is due before those that were seen with the last one claimed', async () => {
    for (let i = 0; i < 3; i += 1) await engine.admit(app, newTask());
    await next();
    const urgent = await engine.admit(app, newTask());
    await raw.zadd(`lanes:{${lane}}:states`, urgent.notBeforeMs - 1_000, urgent.id);
    expect((await next()).task.id).toBe(urgent.id);
  });

  it('passes over those that others took since it saw them', async () => {
    const other = testEngine(server.url);
    closers.push(() => other.close());
    const ids: string[] = [];
    for (let i = 0; i < 6; i += 1) ids.push((await engine.admit(app, newTask())).id);
    // Its answer is on its way: what it saw beyond it is still known while the other takes that.
    const first = engine.claimNext(worker, lane);
    const taken = await Promise.all([1, 2, 3].map(() => other.claimNext(callerNamed('worker-b'), lane)));
    const rest = await Promise.all([1, 2].map(() => engine.claimNext(worker, lane)));
    const all = [await first, ...taken, ...rest].map((claim) => claim?.task.id);
    expect(new Set(all).size).toBe(6);
    expect(all.sort()).toEqual(ids.sort());
  });

  it('of many at once gives each task to one of them', async () => {
    const second = testEngine(server.url);
    closers.push(() => second.close());
    const ids = new Set<string>();
    for (let i = 0; i < 12; i += 1) ids.add((await engine.admit(app, newTask())).id);
    const asked = Array.from({ length: 12 }, (_, i) =>
      (i % 2 === 0 ? engine : second).claimNext(callerNamed(`w${i}`), lane),
    );
    const taken = (await Promise.all(asked)).flatMap((claim) => (claim === null ? [] : [claim.task.id]));
    expect(new Set(taken).size).toBe(taken.length);
    expect(taken.length).toBeGreaterThan(5);
    for (const id of taken) expect(ids).toContain(id);
  });
});

describe('progress', () => {
  it('is kept beside the task, as one short line, and the record stays as it is', async () => {
    await engine.admit(app, newTask());
    const { task, lease } = await next();
    const key = `lanes:{${lane}}:task:${task.id}`;
    const before = await raw.hmget(key, 'doc', 'head');
    await engine.renew(worker, lease, `half\n\u001b[31mdone\u2028${'x'.repeat(10_000)}`);
    expect(await raw.hmget(key, 'doc', 'head')).toEqual(before);
    const { progress = '' } = (await engine.get(app, lane, task.id)) ?? {};
    expect(progress).toMatch(/^half \[31mdone x+…$/);
    expect(progress.length).toBe(500);
    await engine.renew(worker, lease);
    expect(await engine.get(app, lane, task.id)).toMatchObject({ progress });
  });

  it("is the present run's: an end of the run takes it away, and the next run has its own", async () => {
    await engine.admit(app, newTask());
    const one = await next();
    await engine.renew(worker, one.lease, 'almost there');
    const back = await engine.handBack(worker, one.lease, 'shutdown');
    expect(back.progress).toBeUndefined();
    expect((await engine.get(app, lane, back.id))?.progress).toBeUndefined();
    await next();
    expect((await engine.get(app, lane, back.id))?.progress).toBeUndefined();
  });

  it('needs the lease', async () => {
    await engine.admit(app, newTask());
    const { task, lease } = await next();
    const stale = { ...lease, fence: lease.fence + 1 };
    await expect(engine.renew(worker, stale, 'mine')).rejects.toMatchObject({ code: 'lease_lost' });
    expect((await engine.get(app, lane, task.id))?.progress).toBeUndefined();
  });
});

describe('retry', () => {
  it('lets a task that waits after a death start now, with a wake-up of its own', async () => {
    const { id } = await engine.admit(app, newTask());
    const { task, lease } = await next();
    await engine.record(worker, lease, task, crash);
    expect(await engine.retry(app, lane, id, { actor: alice })).toMatchObject({ state: 'queued', wakes: 3 });
    expect(await engine.pending(app, lane)).toEqual([{ namespace: lane, tasks: 1 }]);
    expect(await lastEvent()).toMatchObject({ event: 'retried', by: 'app (@alice)' });
    const woken = await serve();
    await until('the task is done', async () => (await engine.get(app, lane, id))?.state === 'closing');
    expect(woken).toContain(id);
  });

  it('queues a task again that has used up its runs, with all of them', async () => {
    const { id } = await engine.admit(app, newTask({ maxRuns: 1 }));
    const { task, lease } = await next();
    expect(await engine.record(worker, lease, task, crash)).toMatchObject({ reason: 'runs_exhausted' });
    expect(await engine.retry(app, lane, id)).toMatchObject({ state: 'queued', runsUsed: 0 });
    expect((await next()).task).toMatchObject({ id, run: 2 });
  });

  it('is refused for a task that waits for a person, that may start already, or that runs', async () => {
    const wrong = { code: 'wrong_state' };
    const parked = await engine.admit(app, newTask({ parked: { reason: 'no_criteria', detail: '' } }));
    await expect(engine.retry(app, lane, parked.id)).rejects.toMatchObject(wrong);
    const { id } = await engine.admit(app, newTask());
    await expect(engine.retry(app, lane, id)).rejects.toMatchObject(wrong);
    await next();
    await expect(engine.retry(app, lane, id)).rejects.toMatchObject(wrong);
  });
});

describe('taking back', () => {
  it('queues a running task again, not counted, and its old lease is lost', async () => {
    const { id } = await engine.admit(app, newTask({ maxRuns: 1 }));
    const { task, lease } = await next();
    const taken = await engine.takeBack(app, lane, id, 'the grant is gone');
    expect(taken).toMatchObject({ state: 'queued', runsUsed: 0, fence: 2 });
    expect(taken.history).toMatchObject([{ worker: 'worker-a', outcome: 'ended' }]);
    const lost = { code: 'lease_lost' };
    await expect(engine.renew(worker, lease)).rejects.toMatchObject(lost);
    await expect(engine.record(worker, lease, task, crash)).rejects.toMatchObject(lost);
    await expect(engine.handBack(worker, lease, 'x')).rejects.toMatchObject(lost);
    expect(await lastEvent()).toMatchObject({ event: 'taken_back', by: 'app', detail: 'the grant is gone' });
    expect((await next(callerNamed('worker-b'))).lease).toMatchObject({ fence: 3, run: 2 });
  });

  it('is refused for a task that nobody has in hand', async () => {
    const { id } = await engine.admit(app, newTask());
    await expect(engine.takeBack(app, lane, id, 'x')).rejects.toMatchObject({ code: 'wrong_state' });
  });
});

describe('a paused namespace', () => {
  it('gives no claim, and the runs in hand go on', async () => {
    await engine.admit(app, newTask());
    const { task, lease } = await next();
    const { id } = await engine.admit(app, newTask());
    await engine.pause(app, lane);
    expect(await engine.claim(worker, lane, id)).toMatchObject({ kind: 'not_claimable', state: 'paused' });
    expect(await engine.claimNext(worker, lane)).toBeNull();
    expect(await engine.pending(worker, lane)).toEqual([{ namespace: lane, tasks: 0 }]);
    await engine.renew(worker, lease);
    expect(await engine.record(worker, lease, task, result([met('c1')]))).toMatchObject({ state: 'closing' });
    expect(await engine.get(app, lane, id)).toMatchObject({ state: 'queued', fence: 0 });
  });

  it('loses no wake-up that comes meanwhile: on resume its tasks are run', async () => {
    await engine.pause(app, lane);
    const woken = await serve();
    const { id } = await engine.admit(app, newTask());
    await until('the wake-up is used up', async () => woken.length > 0);
    const gone = async () => (await raw.exists(`lanes:{${lane}}:wake:gh-${id}-0-1`)) === 0;
    await until('the wake-up is gone', gone);
    expect((await engine.repair(app, lane)).woken).toEqual([]);
    expect(await engine.get(app, lane, id)).toMatchObject({ state: 'queued', run: 0 });
    expect(await engine.resumeNamespace(app, lane)).toMatchObject([{ id }]);
    await until('the task is done', async () => (await engine.get(app, lane, id))?.state === 'closing');
  });

  it('is one namespace: another one goes on', async () => {
    await engine.pause(app, lane);
    await engine.admit(app, newTask({ namespace: agentLane }));
    expect(await engine.claimNext(box, agentLane)).toMatchObject({ kind: 'claimed' });
  });
});
