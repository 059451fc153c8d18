import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createEngine,
  type Engine,
  type EngineOptions,
  openRedis,
  type ServeOptions,
} from '../../../lanes/index.ts';
import { keyPrefix } from '../../../lanes/namespaces.ts';
import type { Task, TaskState } from '../../../lanes/records/tasks.ts';
import { agentLane, registry, testEngine } from '../../support/engine.ts';
import { builtProgram } from '../../support/programs.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { callerNamed, lane, met, newTask, result } from '../../support/tasks.ts';
import { until } from '../../support/until.ts';

const app = callerNamed('app');
const worker = callerNamed('worker-a');
const quick = { leaseTtlMs: 600, renewEveryMs: 150, stallCheckMs: 200 };

let server: TestRedis;
let raw: Redis;
let engines: Engine[];
let engine: Engine;
const children: ChildProcess[] = [];

const open = (more: Partial<EngineOptions> = {}): Engine => {
  const one = testEngine(server.url, more);
  engines.push(one);
  return one;
};

beforeAll(async () => {
  server = await startTestRedis();
  raw = new Redis(server.url);
});
afterAll(async () => {
  raw.disconnect();
  await server.stop();
});
beforeEach(async () => {
  await raw.flushdb();
  engines = [];
  engine = open();
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const one of engines) await one.close();
});

/** Serves as a worker does whose runs are done at once; remembers who was claimed. */
async function serve(one: Engine, more: Partial<ServeOptions> = {}, caller = worker): Promise<Task[]> {
  const claimed: Task[] = [];
  await one.serve(caller, lane, {
    lane: 'triage',
    concurrency: 10,
    onTrouble: () => {},
    async onWake(id, hold) {
      const claim = await one.claim(caller, lane, id);
      if (claim.kind !== 'claimed') return;
      const kept = hold.keep(claim.lease);
      claimed.push(claim.task);
      await one.record(caller, claim.lease, claim.task, result([met('c1')]));
      kept.stop();
    },
    ...more,
  });
  return claimed;
}

function untilState(id: string, state: TaskState): Promise<Task> {
  return until(`${id} is ${state}`, async () => {
    const task = await engine.get(app, lane, id);
    return task?.state === state && task;
  });
}

function doomed(stop: 'claim' | 'wake'): ChildProcess {
  const args = [builtProgram('worker'), server.url, JSON.stringify(quick), stop];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  return child;
}

const jobKeys = async (): Promise<string[]> => raw.keys(`lanes:{${lane}}:wake.triage:gh-*`);

describe('serving', () => {
  it('brings each of 50 tasks to one run, over two engines', async () => {
    const tasks = await Promise.all(Array.from({ length: 50 }, () => engine.admit(app, newTask())));
    const [one, two] = [await serve(open()), await serve(open(), {}, callerNamed('worker-b'))];
    for (const { id } of tasks) await untilState(id, 'closing');
    expect([...one, ...two].map(({ id }) => id).sort()).toEqual(tasks.map(({ id }) => id).sort());
    expect([...one, ...two].every(({ run, fence }) => run === 1 && fence === 1)).toBe(true);
    await until('no wake-up is left', async () => (await jobKeys()).length === 0);
  });

  it('has at most as many in hand as it was told', async () => {
    let [now, most] = [0, 0];
    let release: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const seen = new Set<string>();
    await serve(engine, {
      lane: 'triage',
      concurrency: 3,
      async onWake(id) {
        seen.add(id);
        now += 1;
        most = Math.max(most, now);
        if (now === 3) release();
        await gate;
        now -= 1;
      },
    });
    const tasks = await Promise.all(Array.from({ length: 9 }, () => engine.admit(app, newTask())));
    await until('all were handed over', async () => seen.size === tasks.length);
    expect(most).toBe(3);
  });

  it('names its worker in the wake-up, atomically with taking it', async () => {
    const names: unknown[] = [];
    const seen = new Promise<void>((resolve) => {
      void serve(engine, {
        async onWake(id) {
          const [key = ''] = (await jobKeys()).filter((name) => name.includes(id) && !name.endsWith(':lock'));
          names.push(await raw.hget(key, 'pb'));
          resolve();
        },
      });
    });
    await engine.admit(app, newTask());
    await seen;
    expect(names).toEqual(['worker-a']);
  });

  it('ends quietly for a task that is not there or not claimable any more', async () => {
    const task = await engine.admit(app, newTask());
    await engine.cancel(app, lane, task.id, { reason: 'label removed' });
    const queue = new Queue('wake.triage', { connection: { url: server.url }, prefix: keyPrefix(lane) });
    await queue.add('wake', { task: 'nothing0' }, { jobId: 'gh-nothing0-0-1', removeOnComplete: true });
    const troubles: Error[] = [];
    const claimed = await serve(engine, { onTrouble: (error) => troubles.push(error) });
    await until('both wake-ups are used', async () => (await jobKeys()).length === 0);
    expect([claimed, troubles]).toEqual([[], []]);
    await queue.close();
  });

  it('tells of a wake-up that threw, and goes on', async () => {
    const troubles: string[] = [];
    const bad = await engine.admit(app, newTask());
    await serve(engine, {
      onTrouble: (error) => troubles.push(error.message),
      async onWake(id) {
        if (id === bad.id) throw new Error('out of luck');
        const claim = await engine.claim(worker, lane, id);
        if (claim.kind === 'claimed')
          await engine.record(worker, claim.lease, claim.task, result([met('c1')]));
      },
    });
    const good = await engine.admit(app, newTask());
    await untilState(good.id, 'closing');
    expect(troubles).toEqual(['out of luck']);
  });

  it('closes at once, and says so, where Redis refuses', async () => {
    const rules = ['on', '>pw', 'resetkeys', `~${keyPrefix(lane)}:*`, 'resetchannels', '+@all'];
    await raw.call('ACL', 'SETUSER', 'lane-only', ...rules);
    const connect = (): Redis => openRedis(server.url, { username: 'lane-only', password: 'pw' });
    const wrong = createEngine({ connect, registry, id: () => 'x'.repeat(20) });
    const troubles: Error[] = [];
    const caller = callerNamed('worker-a', [agentLane]);
    const onTrouble = (error: Error): unknown => troubles.push(error);
    const serving = await wrong.serve(caller, agentLane, {
      lane: 'triage',
      concurrency: 5,
      onWake: async () => {},
      onTrouble,
    });
    expect(await serving.closed).toMatchObject({ code: 'store_refused' });
    expect(troubles.length).toBeLessThan(10);
    await wrong.close();
    await raw.call('ACL', 'DELUSER', 'lane-only');
  });

  it('waits at its end for what it has in hand', async () => {
    const { id } = await engine.admit(app, newTask());
    let release: () => void = () => {};
    const inHand = new Promise<void>((taken) => {
      void engine
        .serve(worker, lane, {
          lane: 'triage',
          concurrency: 1,
          onTrouble: () => {},
          async onWake() {
            const gate = new Promise<void>((resolve) => {
              release = resolve;
            });
            taken();
            await gate;
            const claim = await engine.claim(worker, lane, id);
            if (claim.kind === 'claimed') await engine.handBack(worker, claim.lease, 'shutdown');
          },
        })
        .then(async (serving) => {
          await inHand;
          const closing = serving.close();
          release();
          await closing;
        });
    });
    await inHand;
    const task = await until('handed back', async () => {
      const now = await engine.get(app, lane, id);
      return now?.run === 1 && now.state === 'queued' && now;
    });
    expect(task).toMatchObject({ runsUsed: 0, history: [{ outcome: 'handed_back' }] });
  });
});

describe('a hold', () => {
  it('renews the lease for as long as the run takes', async () => {
    const one = open(quick);
    const { id } = await one.admit(app, newTask());
    let recorded: Task | undefined;
    await serve(one, {
      async onWake(task, hold) {
        const claim = await one.claim(worker, lane, task);
        if (claim.kind !== 'claimed') return;
        hold.keep(claim.lease);
        await until('two ttls have passed', async () => {
          const now = await one.get(app, lane, id);
          return (now?.lease?.endsAtMs ?? 0) > claim.lease.endsAtMs + 2 * quick.leaseTtlMs;
        });
        expect((await one.repair(app, lane)).expired).toEqual([]);
        recorded = await one.record(worker, claim.lease, claim.task, result([met('c1')]));
      },
    });
    await until('it was recorded', async () => recorded);
    expect(recorded).toMatchObject({ run: 1, history: [{ run: 1 }] });
  });

  it('says when the lease is lost, with the reason', async () => {
    const one = open(quick);
    const { id } = await one.admit(app, newTask());
    const reason = new Promise<unknown>((resolve) => {
      void serve(one, {
        async onWake(task, hold) {
          const claim = await one.claim(worker, lane, task);
          if (claim.kind !== 'claimed') return;
          const { signal } = hold.keep(claim.lease);
          await one.cancel(app, lane, id, { reason: 'label removed' });
          await once(signal, 'abort');
          resolve(signal.reason);
        },
      });
    });
    expect(await reason).toMatchObject({ code: 'lease_lost' });
  });
});

describe('the keeper', () => {
  it('gives a queued task whose wake-up is gone a new one; no two keepers give the same', async () => {
    const { id } = await engine.admit(app, newTask());
    for (const key of await raw.keys(`lanes:{${lane}}:wake.*`)) await raw.del(key);
    const second = open();
    const passes = await Promise.all([engine.repair(app, lane), second.repair(app, lane)]);
    // One that looks between the other's record and its job counts one wake-up more: a claim decides, so that is no harm.
    const woken = passes.flatMap((pass) => pass.woken);
    expect(new Set(woken.map((task) => task.id))).toEqual(new Set([id]));
    expect(woken.map((task) => task.wakes).sort()).toEqual(woken.map((_task, i) => i + 2));
    expect(await engine.repair(app, lane)).toMatchObject({ expired: [], woken: [] });
    await serve(engine);
    await untilState(id, 'closing');
  });

  it('leaves wake-ups alone that wait, are delayed or are being worked on', async () => {
    const waiting = await engine.admit(app, newTask());
    const delayed = await engine.admit(app, newTask());
    const claim = await engine.claim(worker, lane, delayed.id);
    if (claim.kind !== 'claimed') throw new Error('not claimed');
    await engine.record(worker, claim.lease, claim.task, {
      kind: 'died',
      death: { kind: 'exit', code: 1 },
      tail: '',
    });
    expect(await engine.repair(app, lane)).toMatchObject({ expired: [], woken: [] });
    const releases: (() => void)[] = [];
    const taken = new Promise<void>((resolve) => {
      void engine.serve(worker, lane, {
        lane: 'triage',
        concurrency: 5,
        onTrouble: () => {},
        async onWake(id) {
          if (id === waiting.id) resolve();
          await new Promise<void>((release) => {
            releases.push(release);
          });
        },
      });
    });
    await taken;
    expect(await engine.repair(app, lane)).toMatchObject({ expired: [], woken: [] });
    await until('both old wake-ups are in hand', async () => releases.length === 2);
    for (const release of releases) release();
  });

  it('forgets the oldest ended tasks beyond the number that is kept', async () => {
    const ended: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      const { id } = await engine.admit(app, newTask());
      await engine.cancel(app, lane, id, { reason: 'x' });
      ended.push(id);
    }
    const { makeListing } = await import('../../../lanes/store/listing.ts');
    expect(await makeListing(raw, lane).forget(1)).toBe(2);
    const left = await Promise.all(ended.map((id) => engine.get(app, lane, id)));
    expect(left.map((task) => task?.id)).toEqual([undefined, undefined, ended[2]]);
  });
});

describe('a worker that is killed', () => {
  it('in a run loses it: the keeper queues the task again, and another worker runs it', async () => {
    const { id } = await engine.admit(app, newTask({ maxRuns: 2 }));
    const child = doomed('claim');
    await once(child.stdout ?? child, 'data');
    child.kill('SIGKILL');
    const task = await until('the keeper found it', async () => {
      const { expired } = await engine.repair(app, lane);
      return expired.find((one) => one.id === id);
    });
    expect(task).toMatchObject({
      state: 'queued',
      run: 1,
      claimedBy: 'doomed',
      history: [{ outcome: 'died' }],
    });
    expect(task.notBeforeMs - task.changedAtMs).toBe(10_000);
    expect(await jobKeys()).toContain(`lanes:{${lane}}:wake.triage:gh-${id}-1-2`);
  });

  it('before its claim leaves the wake-up to BullMQ, which hands it to another worker', async () => {
    const { id } = await engine.admit(app, newTask());
    const child = doomed('wake');
    await once(child.stdout ?? child, 'data');
    child.kill('SIGKILL');
    await serve(open(quick));
    expect(await untilState(id, 'closing')).toMatchObject({ claimedBy: 'worker-a', run: 1 });
  });
});

describe('a wake-up before its time', () => {
  it('is followed by another one at that time', async () => {
    const { id } = await engine.admit(app, newTask());
    const later = Date.now() + 1_500;
    const key = `lanes:{${lane}}:task:${id}`;
    const head = ((await raw.hget(key, 'head')) ?? '').split('\n');
    await raw.hset(key, 'head', head.with(7, String(later)).join('\n'));
    const claimed = await serve(engine);
    const task = await untilState(id, 'closing');
    expect(task.wakes).toBeGreaterThan(1);
    expect(claimed).toHaveLength(1);
    expect(task.changedAtMs).toBeGreaterThanOrEqual(later);
  });
});
