import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LaneError } from '../../../lanes/errors.ts';
import {
  createEngine,
  type EmbeddedRedis,
  type Engine,
  openRedis,
  startEmbeddedRedis,
} from '../../../lanes/index.ts';
import { type Caller, makeCaller, makeRegistry, parseNamespace } from '../../../lanes/namespaces.ts';
import type { Lane } from '../../../lanes/records/config.ts';
import type { RunEnd } from '../../../lanes/records/runs.ts';
import { type NewTask, newTaskSchema, type Task, type TaskState } from '../../../lanes/records/tasks.ts';
import type { RunOrder, RunOutcome } from '../../../lanes/work/run-room.ts';
import { superviseRun } from '../../../lanes/work/supervisor.ts';
import { type RunningWorker, runWorker, type WorkerEngine } from '../../../lanes/work/worker-loop.ts';
import { agentRun, makeCriteria, makeLane, makeSetting } from './run-support.ts';

const namespace = parseNamespace('lane:triage');
const app = makeCaller('app', [namespace]);
const caller = makeCaller('worker-a', [namespace]);
const done: RunEnd = {
  kind: 'result',
  outcome: 'done',
  summary: 'done',
  dispositions: [],
  proposals: [],
  notices: [],
};

let folder: string;
let redis: EmbeddedRedis;
let engine: Engine;
let worker: RunningWorker | undefined;

beforeAll(async () => {
  // Outlives the tests, unlike the folders that each one makes.
  folder = await mkdtemp(join(tmpdir(), 'lanes-loop-'));
  redis = await startEmbeddedRedis({ dataDir: folder });
});
afterEach(async () => {
  await worker?.close(0);
  worker = undefined;
  await engine.close();
  const admin = new Redis(redis.url);
  await admin.flushall();
  admin.disconnect();
});
afterAll(async () => {
  await redis.stop();
  await rm(folder, { recursive: true, force: true });
});

function makeEngine(times: { leaseTtlMs?: number; renewEveryMs?: number } = {}): Engine {
  engine = createEngine({
    connect: () => openRedis(redis.url),
    registry: makeRegistry([namespace]),
    id: randomUUID,
    ...times,
  });
  return engine;
}

function admission(id: string, lane = 'triage'): NewTask {
  return newTaskSchema.parse({
    ...{ id, namespace, lane, title: 'A title', approvedBy: { login: 'ann', id: 1 } },
    issue: { installation: 1, repositoryId: 7, repository: 'acme/shop', number: 3 },
    ...{ approvedBodyHash: '0'.repeat(64), criteria: makeCriteria('aa'), dispositions: {} },
    ...{ proof: 'verified', maxRuns: 3 },
  });
}

async function start(
  supervise: (order: RunOrder) => Promise<RunOutcome>,
  options: { lanes?: Lane[]; engine?: WorkerEngine; caller?: Caller; trouble?: Error[] } = {},
): Promise<RunningWorker> {
  worker = await runWorker({
    engine: options.engine ?? engine,
    caller: options.caller ?? caller,
    lanes: options.lanes ?? [makeLane({})],
    supervise,
    onTrouble: (error) => options.trouble?.push(error),
  });
  return worker;
}

async function untilState(id: string, state: TaskState) {
  await expect
    .poll(async () => (await engine.get(app, namespace, id))?.state, { timeout: 20_000 })
    .toBe(state);
  return await engine.get(app, namespace, id);
}

/** Something that a test waits for until somebody says so. */
function gate<T = void>() {
  let open: (value: T) => void = () => {};
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

describe("the worker's loop", () => {
  test('claims a task as itself, runs it, and records its end', async () => {
    await makeEngine().admit(app, admission('task0000001'));
    const orders: RunOrder[] = [];
    await start(async (order) => {
      orders.push(order);
      return done;
    });
    const task = await untilState('task0000001', 'parked');
    expect(task).toMatchObject({ claimedBy: 'worker-a', run: 1, reason: 'criteria_open', summary: 'done' });
    expect(orders).toMatchObject([{ lane: { name: 'triage' }, lease: { run: 1, worker: 'worker-a' } }]);
  });

  test('gives a task back for a while where the App cannot be asked, without counting the run', async () => {
    await makeEngine().admit(app, admission('task0000001'));
    await start(async () => ({ kind: 'stopped', why: 'app_unreachable' }));
    const detail = 'GitHub could not be asked';
    await expect
      .poll(async () => (await engine.get(app, namespace, 'task0000001'))?.history, { timeout: 20_000 })
      .toMatchObject([{ outcome: 'handed_back', detail }]);
    const task = await engine.get(app, namespace, 'task0000001');
    expect(task).toMatchObject({ state: 'queued', runsUsed: 0, run: 1 });
    expect((task?.notBeforeMs ?? 0) - (task?.changedAtMs ?? 0)).toBe(60_000);
  });

  test('keeps a lease for as long as the run takes', async () => {
    await makeEngine({ leaseTtlMs: 400, renewEveryMs: 100 }).admit(app, admission('task0000001'));
    const ended = gate();
    await start(async () => {
      await ended.opened;
      return done;
    });
    const task = await untilState('task0000001', 'running');
    const first = task?.lease?.endsAtMs ?? 0;
    const endsAtMs = async () => (await engine.get(app, namespace, 'task0000001'))?.lease?.endsAtMs ?? 0;
    await expect.poll(endsAtMs, { timeout: 20_000 }).toBeGreaterThan(first + 1_000);
    ended.open();
    await untilState('task0000001', 'parked');
  });

  test('tells a run whose task was parked by a person that its lease is lost, and records nothing', async () => {
    await makeEngine({ leaseTtlMs: 2_000, renewEveryMs: 50 }).admit(app, admission('task0000001'));
    const running = gate();
    const reasons: unknown[] = [];
    await start(async ({ signal }) => {
      running.open();
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      reasons.push(signal.reason);
      return { kind: 'stopped', why: 'lease_lost' };
    });
    await running.opened;
    await engine.park(app, namespace, 'task0000001', { reason: 'held', detail: 'stop' });
    await expect.poll(() => reasons, { timeout: 20_000 }).toEqual(['lease_lost']);
    expect(await untilState('task0000001', 'parked')).toMatchObject({ reason: 'held', fence: 2 });
  });

  test('records nothing for a run that the App did not allow', async () => {
    await makeEngine().admit(app, admission('task0000001'));
    const parked = gate<Task>();
    await start(async () => {
      parked.open(await engine.park(app, namespace, 'task0000001', { reason: 'held', detail: 'not now' }));
      return { kind: 'not_allowed', why: 'the label is gone' };
    });
    const task = await parked.opened;
    await worker?.close(20_000);
    expect(await engine.get(app, namespace, 'task0000001')).toEqual(task);
  });

  test('leaves a task of a lane that it does not know as it is, for a worker that knows it', async () => {
    const unknown = await makeEngine().admit(app, admission('task0000001', 'unheard-of'));
    await engine.admit(app, admission('task0000002'));
    await start(async () => done);
    await untilState('task0000002', 'parked');
    expect(await engine.get(app, namespace, 'task0000001')).toEqual(unknown);
    await worker?.close(0);
    await start(async () => done, { lanes: [{ ...makeLane({}), name: 'unheard-of' }] });
    await untilState('task0000001', 'parked');
  });

  test('records the end of a run after Redis was away', async () => {
    await makeEngine().admit(app, admission('task0000001'));
    let refusals = 2;
    const flaky: WorkerEngine = {
      ...engine,
      record: async (...args) => {
        refusals -= 1;
        if (refusals >= 0) throw new LaneError('store_unavailable');
        return await engine.record(...args);
      },
    };
    await start(async () => done, { engine: flaky });
    await untilState('task0000001', 'parked');
    expect(refusals).toBe(-1);
  });

  test('is refused where no lane is in a namespace of its own', async () => {
    makeEngine();
    const stranger = makeCaller('worker-b', [parseNamespace('main')]);
    await expect(start(async () => done, { caller: stranger })).rejects.toMatchObject({
      code: 'namespace_not_granted',
    });
  });
});

describe('closing the worker', () => {
  test('lets a run finish within its grace', async () => {
    await makeEngine().admit(app, admission('task0000001'));
    const running = gate();
    const ended = gate();
    await start(async () => {
      running.open();
      await ended.opened;
      return done;
    });
    await running.opened;
    const closed = worker?.close(60_000);
    ended.open();
    await closed;
    expect(await engine.get(app, namespace, 'task0000001')).toMatchObject({ state: 'parked', run: 1 });
  });

  test('hands a run back that does not, and the run does not count', async () => {
    await makeEngine().admit(app, admission('task0000001'));
    const running = gate();
    await start(async ({ signal }) => {
      running.open();
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      return { kind: 'stopped', why: signal.reason };
    });
    await running.opened;
    await worker?.close(10);
    expect(await engine.get(app, namespace, 'task0000001')).toMatchObject({
      state: 'queued',
      runsUsed: 0,
      history: [{ outcome: 'handed_back', worker: 'worker-a' }],
    });
  });

  test('takes no more tasks', async () => {
    makeEngine();
    await start(async () => done);
    await worker?.close(0);
    await engine.admit(app, admission('task0000001'));
    const other = makeCaller('worker-b', [namespace]);
    expect(await engine.claim(other, namespace, 'task0000001')).toMatchObject({ kind: 'claimed' });
  });
});

test('a task goes from its wake-up through a whole run to closing', async () => {
  makeEngine();
  const setting = await makeSetting({ files: { 'work.txt': 'fixed\n' } });
  const checks = { unit: { run: ['grep', '-q', 'fixed', 'work.txt'], proves: ['*'] } };
  const agent = { kind: 'command', run: agentRun('completes') };
  const lane = makeLane({ agent, checks, containment: 'none' });
  const deps = {
    ...setting.deps,
    begin: (...args: Parameters<typeof setting.deps.begin>) => engine.begin(caller, ...args),
  };
  await engine.admit(app, admission('task0000001'));
  await start((order) => superviseRun(deps, order), { lanes: [lane] });
  expect(await untilState('task0000001', 'closing')).toMatchObject({
    dispositions: { aa: { kind: 'met', evidence: [{ standing: 'verified' }] } },
  });
});
