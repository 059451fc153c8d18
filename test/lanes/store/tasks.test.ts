import type { Redis } from 'ioredis';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Engine } from '../../../lanes/index.ts';
import type { Lease } from '../../../lanes/records/runs.ts';
import type { Task } from '../../../lanes/records/tasks.ts';
import { expired } from '../../../lanes/rules/transitions/run.ts';
import { makeRedisClock } from '../../../lanes/store/clock.ts';
import { makeTaskStore } from '../../../lanes/store/tasks.ts';
import { testEngine } from '../../support/engine.ts';
import type { TestRedis } from '../../support/redis.ts';
import {
  alice,
  byAlice,
  callerNamed,
  crash,
  criterion,
  lane,
  met,
  newTask,
  result,
} from '../../support/tasks.ts';
import { useEngine } from '../../support/use-engine.ts';

const app = callerNamed('app');
const worker = callerNamed('worker-a');
const other = callerNamed('worker-b');

let server: TestRedis;
let raw: Redis;
let engine: Engine;

useEngine((opened) => {
  ({ server, raw, engine } = opened);
});
beforeEach(async () => {
  await raw.flushdb();
});

async function claimed(caller = worker, more = {}): Promise<{ task: Task; lease: Lease }> {
  const { id } = await engine.admit(app, newTask(more));
  const claim = await engine.claim(caller, lane, id);
  if (claim.kind !== 'claimed') throw new Error(`not claimable: ${claim.state}`);
  return claim;
}

async function events(): Promise<string[]> {
  return (await engine.ledger.read(app, lane, '0', 100)).map(({ event }) => event.event);
}

describe('admission', () => {
  it('makes one task, however often and from however many sides it is asked', async () => {
    const admission = newTask();
    const tasks = await Promise.all(Array.from({ length: 5 }, () => engine.admit(app, admission)));
    expect(new Set(tasks.map(({ createdAtMs }) => createdAtMs)).size).toBe(1);
    expect(await events()).toEqual(['admitted']);
    expect(await engine.count(app, lane)).toMatchObject({ queued: 1 });
  });

  it('does not move a task that is there', async () => {
    const { task } = await claimed();
    expect(await engine.admit(app, newTask({ id: task.id }))).toMatchObject({ state: 'running', run: 1 });
  });

  it('parks at once where there is nothing to work on, with its note recorded', async () => {
    const task = await engine.admit(app, newTask({ parked: { reason: 'no_criteria', detail: 'none' } }));
    const effects = await engine.effects.read(app, lane, '0', { count: 10 });
    expect(effects).toMatchObject([{ effect: { kind: 'note', state: 'parked', task: { id: task.id } } }]);
    expect(await engine.claim(worker, lane, task.id)).toMatchObject({
      kind: 'not_claimable',
      state: 'parked',
    });
  });

  it('refuses what is not a task', async () => {
    const admission = { ...newTask(), approvedBodyHash: 'nothing' };
    await expect(engine.admit(app, admission)).rejects.toMatchObject({ code: 'invalid_delivery' });
    expect(await engine.get(app, lane, admission.id)).toBeNull();
  });
});

describe('a claim', () => {
  it("is one worker's, with a lease, a run and a higher fence", async () => {
    const { task, lease } = await claimed();
    expect(task).toMatchObject({
      state: 'running',
      run: 1,
      fence: 1,
      runsUsed: 1,
      claimedBy: 'worker-a',
      lease,
    });
    expect(lease).toMatchObject({ namespace: lane, task: task.id, run: 1, fence: 1, worker: 'worker-a' });
    expect(await engine.get(app, lane, task.id)).toEqual(task);
  });

  it('is given to one of many who ask at once', async () => {
    const { id } = await engine.admit(app, newTask());
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const claims = await Promise.all(names.map((name) => engine.claim(callerNamed(name), lane, id)));
    expect(claims.filter(({ kind }) => kind === 'claimed')).toHaveLength(1);
    expect(await events()).toEqual(['admitted', 'claimed']);
  });

  it('of a second claimer changes nothing', async () => {
    const { task } = await claimed();
    const second = await engine.claim(other, lane, task.id);
    expect(second).toMatchObject({ kind: 'not_claimable', state: 'running' });
    expect(await engine.get(app, lane, task.id)).toEqual(task);
  });

  it('before its time is refused, with the time', async () => {
    const { task, lease } = await claimed();
    const queued = await engine.record(worker, lease, task, crash);
    const early = await engine.claim(worker, lane, task.id);
    expect(early).toMatchObject({ kind: 'not_claimable', state: 'queued', notBeforeMs: queued.notBeforeMs });
  });

  it('of a task that is not there says so', async () => {
    expect(await engine.claim(worker, lane, 'nothing0')).toMatchObject({
      kind: 'not_claimable',
      state: 'missing',
    });
  });

  it('needs an identity', async () => {
    const { id } = await engine.admit(app, newTask());
    const nobody = { identity: ' ', namespaces: new Set([lane]) };
    await expect(engine.claim(nobody, lane, id)).rejects.toMatchObject({ code: 'identity_required' });
    expect(await engine.get(app, lane, id)).toMatchObject({ state: 'queued' });
  });
});

describe('a lease', () => {
  const end = result([met('c1')]);

  it('carries its run from begin to record, in one ledger', async () => {
    const { task, lease } = await claimed();
    await engine.begin(worker, lease);
    expect(await engine.record(worker, lease, task, end)).toMatchObject({ state: 'closing' });
    expect(await events()).toEqual(['admitted', 'claimed', 'result']);
    const effects = await engine.effects.read(app, lane, '0', { count: 10 });
    expect(effects).toMatchObject([{ effect: { kind: 'close', sequence: 1, task: { id: task.id } } }]);
  });

  it.each([
    ['id', { id: 'another-lease-id' }],
    ['fence', { fence: 9 }],
    ['run', { run: 9 }],
    ['worker', { worker: 'worker-b' }],
    ['epoch', { epoch: 'another' }],
  ])('with another %s is lost, and nothing changes', async (_what, wrong) => {
    const { task, lease } = await claimed();
    const stale = { ...lease, ...wrong };
    const holder = callerNamed(stale.worker);
    const lost = { code: 'lease_lost' };
    await expect(engine.begin(holder, stale)).rejects.toMatchObject(lost);
    await expect(engine.renew(holder, stale)).rejects.toMatchObject(lost);
    await expect(engine.record(holder, stale, task, end)).rejects.toMatchObject(lost);
    await expect(engine.handBack(holder, stale, 'x')).rejects.toMatchObject(lost);
    expect(await engine.get(app, lane, task.id)).toEqual(task);
    expect(await events()).toEqual(['admitted', 'claimed']);
  });

  it('of another worker cannot be used', async () => {
    const { task, lease } = await claimed();
    await expect(engine.record(other, lease, task, end)).rejects.toMatchObject({ code: 'lease_lost' });
  });

  it('is lost by park, cancel and the end of the run', async () => {
    const one = await claimed();
    await engine.park(app, lane, one.task.id, { reason: 'held', detail: '' });
    await expect(engine.record(worker, one.lease, one.task, end)).rejects.toMatchObject({
      code: 'lease_lost',
    });
    const two = await claimed();
    await engine.cancel(app, lane, two.task.id, { reason: 'label removed' });
    await expect(engine.renew(worker, two.lease)).rejects.toMatchObject({ code: 'lease_lost' });
    const three = await claimed();
    await engine.record(worker, three.lease, three.task, end);
    await expect(engine.begin(worker, three.lease)).rejects.toMatchObject({
      code: 'lease_lost',
    });
  });

  it("that has ended by Redis's clock is lost, though nobody has moved the task on", async () => {
    const short = testEngine(server.url, { leaseTtlMs: 1 });
    const { id } = await engine.admit(app, newTask());
    const claim = await short.claim(worker, lane, id);
    if (claim.kind !== 'claimed') throw new Error('not claimed');
    await raw.eval(
      "local t = redis.call('TIME')[2] while redis.call('TIME')[2] - t < 3000 and redis.call('TIME')[2] >= t do end",
      0,
    );
    await expect(engine.record(worker, claim.lease, claim.task, end)).rejects.toMatchObject({
      code: 'lease_lost',
    });
    expect(await engine.get(app, lane, id)).toMatchObject({ state: 'running' });
    await short.close();
  });

  it('is longer after a renewal, and the revision stays', async () => {
    const { task, lease } = await claimed();
    const renewed = await testEngineFor(60_000, (long) => long.renew(worker, lease));
    expect(renewed.endsAtMs).toBeGreaterThan(lease.endsAtMs + 30_000);
    expect(await engine.get(app, lane, task.id)).toEqual({ ...task, lease: renewed });
  });

  it('recorded twice gives the same answer once: the first may have been lost on its way', async () => {
    const { task, lease } = await claimed();
    const first = await engine.record(worker, lease, task, end);
    expect(await engine.record(worker, lease, task, end)).toEqual(first);
    expect(await engine.effects.read(app, lane, '0', { count: 10 })).toHaveLength(1);
  });

  it("refuses a run's end that is not one, and nothing changes", async () => {
    const { task, lease } = await claimed();
    const wrong = result([met('c1')], { notices: ['x'.repeat(1_001)] });
    await expect(engine.record(worker, lease, task, wrong)).rejects.toMatchObject({ code: 'invalid_result' });
    expect(await engine.get(app, lane, task.id)).toEqual(task);
  });
});

async function testEngineFor<T>(leaseTtlMs: number, use: (engine: Engine) => Promise<T>): Promise<T> {
  const one = testEngine(server.url, { leaseTtlMs });
  return use(one).finally(() => one.close());
}

describe('a wiped store', () => {
  it('has a new epoch: an old lease is lost even where every number fits', async () => {
    const admission = newTask();
    await engine.admit(app, admission);
    const before = await engine.claim(worker, lane, admission.id);
    await raw.flushdb();
    await engine.admit(app, admission);
    const after = await engine.claim(worker, lane, admission.id);
    if (before.kind !== 'claimed' || after.kind !== 'claimed') throw new Error('not claimed');
    expect(after.lease).toMatchObject({ run: before.lease.run, fence: before.lease.fence });
    expect(after.lease.epoch).not.toBe(before.lease.epoch);
    const forged = { ...after.lease, epoch: before.lease.epoch };
    for (const old of [before.lease, forged])
      await expect(engine.record(worker, old, before.task, crash)).rejects.toMatchObject({
        code: 'lease_lost',
      });
  });

  it('leaves an old lease with nothing to act on', async () => {
    const { task, lease } = await claimed();
    await raw.flushdb();
    await expect(engine.record(worker, lease, task, crash)).rejects.toMatchObject({ code: 'lease_lost' });
    expect(await raw.dbsize()).toBe(0);
  });

  it('does not let a decision on the old record through', async () => {
    const admission = newTask();
    await engine.admit(app, admission);
    const slow = testEngine(server.url);
    await raw.flushdb();
    await expect(slow.cancel(app, lane, admission.id, { reason: 'x' })).rejects.toMatchObject({
      code: 'unknown_task',
    });
    await slow.close();
  });
});

describe('two at once', () => {
  it('an amendment during a run is not lost by its record, and the record decides on it', async () => {
    const { task, lease } = await claimed(worker, { criteria: [criterion('c1'), criterion('c2')] });
    await engine.amend(app, lane, task.id, { dispositions: { c2: byAlice('c2', 'waived') } });
    const end = result([met('c1')]);
    const recorded = await engine.record(worker, lease, task, end);
    expect(recorded).toMatchObject({
      state: 'closing',
      dispositions: { c1: { kind: 'met' }, c2: { kind: 'waived' } },
    });
  });

  it('amendments and a record at the same moment all hold', async () => {
    const ids = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'];
    const { task, lease } = await claimed(worker, { criteria: ids.map((id) => criterion(id)) });
    const second = testEngine(server.url);
    await Promise.all([
      ...ids.slice(1).map((id, i) =>
        (i % 2 ? engine : second).amend(app, lane, task.id, {
          dispositions: { [id]: byAlice(id, 'waived') },
        }),
      ),
      engine.record(worker, lease, task, result([met('c1')])),
    ]);
    const now = await engine.get(app, lane, task.id);
    expect(Object.keys(now?.dispositions ?? {}).sort()).toEqual(ids);
    expect(now).toMatchObject({ state: 'closing' });
    await second.close();
  });

  it('an amendment during a run leaves its lease as a renewal has set it', async () => {
    const { task, lease } = await claimed();
    const renewed = await testEngineFor(60_000, (long) => long.renew(worker, lease));
    await engine.amend(app, lane, task.id, { dispositions: {} });
    expect((await engine.get(app, lane, task.id))?.lease).toEqual(renewed);
    expect((await engine.repair(app, lane)).expired).toEqual([]);
  });

  it('a lease that was renewed after the keeper looked is not ended by it', async () => {
    const { task, lease } = await claimed();
    const store = makeTaskStore(raw, lane, makeRedisClock());
    const move = expired(task, { by: 'app', nowMs: lease.endsAtMs });
    if ('refused' in move) throw new Error(move.why);
    expect(await store.move({ task, epoch: lease.epoch }, move, { mode: 'ended' })).toBe('conflict');
    expect(await engine.get(app, lane, task.id)).toEqual(task);
  });

  it('of two resumes one holds', async () => {
    const { id } = await engine.admit(app, newTask({ parked: { reason: 'no_criteria', detail: '' } }));
    const both = await Promise.allSettled([1, 2].map(() => engine.resume(app, lane, id, { actor: alice })));
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

describe('looking', () => {
  it('counts and lists by state', async () => {
    const { task } = await claimed();
    const waiting = await engine.admit(app, newTask());
    expect(await engine.count(app)).toEqual({
      queued: 1,
      running: 1,
      parked: 0,
      closing: 0,
      complete: 0,
      cancelled: 0,
    });
    expect((await engine.list(app)).map(({ id }) => id)).toEqual([waiting.id, task.id]);
    expect(await engine.list(app, lane, ['running'])).toEqual([task]);
  });

  it('does not decide on a record that cannot be read', async () => {
    const { task } = await claimed();
    await raw.hset(`lanes:{${lane}}:task:${task.id}`, 'doc', '{"id":"x"}');
    const park = engine.park(app, lane, task.id, { reason: 'held', detail: '' });
    await expect(park).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('keeps every key of a namespace under its prefix', async () => {
    const { task, lease } = await claimed();
    await engine.record(worker, lease, task, crash);
    const keys = await raw.keys('*');
    expect(keys.filter((key) => !key.startsWith(`lanes:{${lane}}:`))).toEqual([]);
  });
});
