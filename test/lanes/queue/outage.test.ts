import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Engine, Lease } from '../../../lanes/index.ts';
import { intakeNamespace } from '../../../lanes/namespaces.ts';
import type { WakeHold } from '../../../lanes/work/worker-loop.ts';
import { testEngine } from '../../support/engine.ts';
import { type OwnRedis, startOwnRedis } from '../../support/redis.ts';
import { callerNamed, lane, met, newTask, result } from '../../support/tasks.ts';
import { unlessAway, until } from '../../support/until.ts';

const app = callerNamed('app', [lane, intakeNamespace]);
const worker = callerNamed('worker-a');

let server: OwnRedis;
let engine: Engine;

beforeEach(async () => {
  server = await startOwnRedis();
  engine = testEngine(server.url, { leaseTtlMs: 3_000, renewEveryMs: 500, stallCheckMs: 500 });
});
afterEach(async () => {
  await engine.close();
  await server.stop();
});

const tellNobody = { onTrouble: () => {} };

describe('when Redis goes away', () => {
  it('a verb is store_unavailable in bounded time, and is not carried out later', async () => {
    const { id } = await engine.admit(app, newTask());
    await server.kill();
    const start = performance.now();
    await expect(engine.claim(worker, lane, id)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(performance.now() - start).toBeLessThan(30_000);
    await server.start();
    expect(await engine.get(app, lane, id)).toMatchObject({ state: 'queued', run: 0 });
    expect(await engine.claim(worker, lane, id)).toMatchObject({ kind: 'claimed' });
  });

  it('and comes back, serving goes on and nothing is lost', async () => {
    const done = new Set<string>();
    await engine.serve(worker, lane, {
      ...tellNobody,
      lane: 'triage',
      concurrency: 5,
      async onWake(id, hold) {
        const claim = await engine.claim(worker, lane, id);
        if (claim.kind !== 'claimed') return;
        const kept = hold.keep(claim.lease);
        await engine.record(worker, claim.lease, claim.task, result([met('c1')]));
        kept.stop();
        done.add(id);
      },
    });
    const admissions = Array.from({ length: 60 }, () => newTask());
    for (const admission of admissions.slice(0, 30)) await engine.admit(app, admission);
    await until('it has begun', async () => done.size > 0);
    await server.kill();
    await server.start();
    for (const admission of admissions)
      await until('it is taken', () => unlessAway(engine.admit(app, admission)));
    await until(
      'all are done',
      async () => {
        await unlessAway(engine.repair(app, lane));
        const counts = await unlessAway(engine.count(app, lane));
        return counts?.closing === admissions.length;
      },
      50_000,
    );
  });

  it('does not spin: an idle worker asks no more than a few times a second', async () => {
    const troubles: Error[] = [];
    await engine.serve(worker, lane, {
      lane: 'triage',
      concurrency: 5,
      onWake: async () => {},
      onTrouble: (error) => troubles.push(error),
    });
    const { id } = await engine.admit(app, newTask());
    await until('it runs', async () => (await engine.repair(app, lane)).woken.length >= 0);
    await server.kill();
    await expect(engine.get(app, lane, id)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(troubles.length).toBeLessThan(100);
  });

  /** Serves one task with a hold on it, until `work` is done with the two. */
  async function holding<T>(
    held: Engine,
    work: (lease: Lease, signal: AbortSignal, task: string) => Promise<T>,
  ): Promise<T> {
    await held.admit(app, newTask());
    return await new Promise<T>((resolve, reject) => {
      const onWake = async (task: string, hold: WakeHold): Promise<void> => {
        const claim = await held.claim(worker, lane, task);
        if (claim.kind === 'claimed') resolve(await work(claim.lease, hold.keep(claim.lease).signal, task));
        else reject(new Error(`not claimed: ${claim.state}`));
      };
      const wake = (task: string, hold: WakeHold) => onWake(task, hold).catch(reject);
      void held.serve(worker, lane, { ...tellNobody, lane: 'triage', concurrency: 1, onWake: wake });
    });
  }

  it('a hold outlives a short outage', async () => {
    // Long enough for any machine: what is asked of it is that it goes on, not how soon.
    const patient = testEngine(server.url, { leaseTtlMs: 300_000, renewEveryMs: 500 });
    const stillHeld = await holding(patient, async (lease, signal, task) => {
      await server.kill();
      await server.start();
      await until('it was renewed', async () => {
        const now = await unlessAway(patient.get(app, lane, task));
        return (now?.lease?.endsAtMs ?? 0) > lease.endsAtMs;
      });
      return !signal.aborted;
    });
    expect(stillHeld).toBe(true);
    await patient.close();
  });

  it('a hold gives up by itself in a long outage', async () => {
    const lost = await holding(engine, async (_, signal) => {
      const aborted = once(signal, 'abort');
      await server.kill();
      await aborted;
      return signal.reason;
    });
    expect(lost).toMatchObject({ code: 'lease_lost' });
  });

  it('a delivery is refused and not recorded later', async () => {
    const delivery = { guid: 'g', event: 'issues', payload: '{}', receivedAtMs: 1 };
    await engine.deliveries.record(app, { ...delivery, guid: 'first' });
    await server.kill();
    await expect(engine.deliveries.record(app, delivery)).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    await server.start();
    expect(await engine.deliveries.record(app, delivery)).toBe('recorded');
  });
});
