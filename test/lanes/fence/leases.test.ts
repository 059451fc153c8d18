import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Engine, Lease } from '../../../lanes/index.ts';
import type { Claimed } from '../../../lanes/verbs.ts';
import { agentLane } from '../../support/engine.ts';
import { builtProgram } from '../../support/programs.ts';
import type { TestRedis } from '../../support/redis.ts';
import { callerNamed, crash, lane, met, newTask, result } from '../../support/tasks.ts';
import { until } from '../../support/until.ts';
import { useEngine } from '../../support/use-engine.ts';

const app = callerNamed('app', [lane, agentLane]);
const worker = callerNamed('worker-a', [lane, agentLane]);
const end = result([met('c1')]);
const lost = { code: 'lease_lost' };

let server: TestRedis;
let raw: Redis;
let engine: Engine;

useEngine((opened) => {
  ({ server, raw, engine } = opened);
});
beforeEach(async () => {
  await raw.flushdb();
});

async function claimed(ns = lane): Promise<Claimed> {
  await engine.admit(app, newTask({ namespace: ns }));
  return nextOf(ns);
}

async function nextOf(ns = lane): Promise<Claimed> {
  const claim = await engine.claimNext(worker, ns);
  if (claim === null) throw new Error('nothing to claim');
  return claim;
}

/** The record, its effects, its ledger and its place: all that a lease could change. */
async function all(ns = lane): Promise<string[]> {
  const keys = (await raw.keys(`lanes:{${ns}}:*`)).filter((key) => !key.includes(':wake.')).sort();
  const dumps = await Promise.all(keys.map((key) => raw.dumpBuffer(key)));
  return keys.map((key, i) => `${key} ${dumps[i]?.toString('hex')}`);
}

async function isLost(lease: Lease, task: Claimed['task']): Promise<void> {
  const before = await all();
  await expect(engine.begin(worker, lease)).rejects.toMatchObject(lost);
  await expect(engine.renew(worker, lease, 'x')).rejects.toMatchObject(lost);
  await expect(engine.record(worker, lease, task, end)).rejects.toMatchObject(lost);
  await expect(engine.record(worker, lease, task, crash)).rejects.toMatchObject(lost);
  await expect(engine.handBack(worker, lease, 'x')).rejects.toMatchObject(lost);
  expect(await all()).toEqual(before);
}

describe('a lease', () => {
  it('from before a re-claim is lost, by the same worker too', async () => {
    const one = await claimed();
    await engine.takeBack(app, lane, one.task.id, 'x');
    const two = await nextOf();
    expect(two.lease).toMatchObject({ worker: one.lease.worker, task: one.lease.task });
    await isLost(one.lease, one.task);
    expect(await engine.record(worker, two.lease, two.task, end)).toMatchObject({ state: 'closing' });
  });

  it('that has ended its run is lost in the next one, however it is replayed', async () => {
    const one = await claimed();
    await engine.handBack(worker, one.lease, 'x');
    const two = await nextOf();
    await isLost(one.lease, one.task);
    await isLost(one.lease, two.task);
    await isLost({ ...two.lease, id: one.lease.id }, two.task);
    await isLost({ ...one.lease, fence: two.lease.fence, run: two.lease.run }, two.task);
    await engine.begin(worker, two.lease);
  });

  it('of one namespace is lost in another, for a task of the same id too', async () => {
    const one = await claimed();
    await isLost({ ...one.lease, namespace: agentLane }, one.task);
    await engine.admit(app, newTask({ id: one.task.id, namespace: agentLane }));
    const twin = await nextOf(agentLane);
    const before = await all(agentLane);
    await isLost({ ...one.lease, namespace: agentLane }, one.task);
    await isLost({ ...twin.lease, namespace: lane }, twin.task);
    await isLost({ ...one.lease, namespace: agentLane, fence: twin.lease.fence }, twin.task);
    expect(await all(agentLane)).toEqual(before);
  });

  it('of one task does not record another', async () => {
    const one = await claimed();
    const two = await claimed();
    const before = await all();
    await expect(engine.record(worker, one.lease, two.task, end)).rejects.toMatchObject(lost);
    await expect(engine.begin(worker, { ...one.lease, task: two.task.id })).rejects.toMatchObject(lost);
    expect(await all()).toEqual(before);
  });
});

type Child = ChildProcessByStdio<Writable, Readable, null>;

/** A worker process, with the lines that it prints as JSON. */
class Sleeper {
  readonly child: Child;
  readonly lines: AsyncIterator<string>;

  constructor(timing: object) {
    const args = [builtProgram('sleeper'), server.url, JSON.stringify(timing)];
    this.child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.lines = createInterface(this.child.stdout)[Symbol.asyncIterator]();
  }

  async line(): Promise<Record<string, unknown>> {
    const { value } = await this.lines.next();
    return JSON.parse(value);
  }

  async end(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }
}

describe('two processes under one instance name', () => {
  const sleepers: Sleeper[] = [];
  afterEach(async () => {
    for (const one of sleepers.splice(0)) await one.end();
  });

  it('are told apart: one that was stopped past two leases changes nothing when it goes on', async () => {
    const leaseTtlMs = 500;
    const sleeper = new Sleeper({ leaseTtlMs, renewEveryMs: 100, stallCheckMs: 60_000 });
    sleepers.push(sleeper);
    const { id } = await engine.admit(app, newTask());
    const { lease } = (await sleeper.line()) as { lease: Lease };
    sleeper.child.kill('SIGSTOP');
    await until('the keeper ends the lease', async () => (await engine.repair(app, lane)).expired[0]);
    await until('two leases have passed', async () => {
      const [seconds = 0, micros = 0] = (await raw.time()).map(Number);
      return seconds * 1_000 + micros / 1_000 > lease.endsAtMs + 2 * leaseTtlMs;
    });

    await engine.retry(app, lane, id);
    const twin = await engine.claimNext(callerNamed('twin'), lane);
    if (twin === null) throw new Error('not claimed');
    expect(twin.lease).toMatchObject({ worker: lease.worker, run: 2, fence: lease.fence + 1 });
    expect(twin.lease.id).not.toBe(lease.id);
    const before = await all();

    sleeper.child.stdin.write('go\n');
    sleeper.child.kill('SIGCONT');
    const codes = { begin: 'lease_lost', renew: 'lease_lost', record: 'lease_lost' };
    expect(await sleeper.line()).toEqual({
      tried: { ...codes, died: 'lease_lost', handBack: 'lease_lost' },
      told: true,
    });
    expect(await all()).toEqual(before);
    expect(await engine.effects.read(app, lane, '0', { count: 10 })).toEqual([]);
    const done = await engine.record(callerNamed('twin'), twin.lease, twin.task, end);
    expect(done).toMatchObject({ state: 'closing' });
    expect(done.patch).toBeUndefined();
  });
});
