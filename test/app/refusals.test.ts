import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeRefusalLog, type RefusalLog } from '../../app/refusals.ts';
import { type Engine, intakeNamespace, type RefusalBatch, type RefusalEvent } from '../../lanes/index.ts';
import { agentLane, testEngine } from '../support/engine.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { callerNamed, lane } from '../support/tasks.ts';
import { until } from '../support/until.ts';

const intake = callerNamed('app', [intakeNamespace]);
const refusal = (more: Partial<RefusalEvent> = {}): RefusalEvent => ({
  event: 'refused',
  namespace: agentLane,
  verb: 'claim',
  by: 'worker-a',
  code: 'fleet_queue_off_limits',
  atMs: 1,
  ...more,
});

let nowMs = 5_000;
let written: RefusalBatch[] = [];
let warned: object[] = [];
const log = { warn: (what: object) => void warned.push(what) } as never;

const keep = async (batch: RefusalBatch): Promise<void> => {
  written.push(batch);
};

function makeLog(write = keep): RefusalLog {
  return makeRefusalLog({ write, now: () => nowMs, log });
}

beforeEach(() => {
  written = [];
  warned = [];
});

describe('the log of refusals', () => {
  it('writes ten a second of one worker and code, and counts all of them', async () => {
    const refusals = makeLog();
    for (let i = 0; i < 14_000; i += 1) refusals.hear(refusal());
    refusals.hear(refusal({ by: 'worker-b' }));
    refusals.hear(refusal({ code: 'lease_lost' }));
    await refusals.stop();
    expect(written.map(({ events }) => events.length)).toEqual([12]);
    expect(written[0]?.counts).toEqual({ fleet_queue_off_limits: 14_001, lease_lost: 1 });
  });

  it('writes on in the next second', async () => {
    const refusals = makeLog();
    for (let i = 0; i < 20; i += 1) refusals.hear(refusal());
    nowMs += 1_000;
    for (let i = 0; i < 20; i += 1) refusals.hear(refusal());
    await refusals.stop();
    expect(written[0]?.events).toHaveLength(20);
  });

  it('stays small, whoever asks', async () => {
    const refusals = makeLog();
    for (let i = 0; i < 5_000; i += 1) refusals.hear(refusal({ by: `stranger-${i}` }));
    await refusals.stop();
    expect(written[0]?.events).toHaveLength(1_000);
    expect(written[0]?.counts).toEqual({ fleet_queue_off_limits: 5_000 });
  });

  it("takes a worker's report as that worker's, whatever it says, and within the same bound", async () => {
    const refusals = makeLog();
    const events = Array.from({ length: 50 }, () => refusal({ by: 'somebody-else' }));
    refusals.take({ events, counts: { fleet_queue_off_limits: 700 } }, 'worker-a');
    await refusals.stop();
    expect(written[0]?.events).toHaveLength(10);
    expect(new Set(written[0]?.events.map(({ by }) => by))).toEqual(new Set(['worker-a']));
    expect(written[0]?.counts).toEqual({ fleet_queue_off_limits: 700 });
  });

  it('that cannot write says so with what it had, does not throw, and goes on', async () => {
    let broken = true;
    const refusals = makeLog(async (batch) => {
      if (broken) throw new Error('no');
      written.push(batch);
    });
    refusals.hear(refusal());
    await until('the warning', async () => warned.length > 0);
    expect(warned).toMatchObject([{ events: [{ by: 'worker-a' }], counts: { fleet_queue_off_limits: 1 } }]);
    broken = false;
    refusals.hear(refusal());
    await refusals.stop();
    expect(written).toHaveLength(1);
  });
});

describe('with an engine', () => {
  let server: TestRedis;
  let raw: Redis;
  let engine: Engine;
  let refusals: RefusalLog;

  beforeAll(async () => {
    server = await startTestRedis();
    raw = new Redis(server.url);
    refusals = makeLog((batch) => engine.refusals.record(intake, batch));
    engine = testEngine(server.url, { onRefusal: refusals.hear });
  });
  afterAll(async () => {
    await engine.close();
    raw.disconnect();
    await server.stop();
  });

  it('each refused verb is in the ledger, with who, what and where, and is counted', async () => {
    const warm = callerNamed('warm', [lane]);
    await expect(engine.claim(warm, agentLane, 'task0000')).rejects.toMatchObject({ status: 403 });
    await expect(engine.count(warm, agentLane)).rejects.toMatchObject({ status: 403 });
    const nobody = { identity: '', namespaces: new Set([lane]) };
    await expect(engine.claimNext(nobody, lane)).rejects.toMatchObject({ code: 'identity_required' });
    await refusals.stop();
    const code = 'fleet_queue_off_limits';
    expect(await engine.refusals.read(intake, 10)).toMatchObject([
      { verb: 'claimNext', by: '', namespace: lane, code: 'identity_required' },
      { verb: 'count', by: 'warm', namespace: agentLane, code },
      { verb: 'claim', by: 'warm', namespace: agentLane, code },
    ]);
    expect(await engine.refusals.counts(intake)).toEqual({ [code]: 2, identity_required: 1 });
  });

  it('the stream is bounded where nobody archives it, and the counts go on', async () => {
    const events = Array.from({ length: 1_000 }, () => refusal());
    const counts = { fleet_queue_off_limits: 1_000 };
    const before = (await engine.refusals.counts(intake)).fleet_queue_off_limits ?? 0;
    for (let i = 0; i < 102; i += 1) await engine.refusals.record(intake, { events, counts });
    expect(await raw.xlen(`lanes:{${intakeNamespace}}:refusals`)).toBeLessThan(100_200);
    expect(await engine.refusals.read(intake, 3)).toHaveLength(3);
    expect((await engine.refusals.counts(intake)).fleet_queue_off_limits).toBe(before + 102_000);
  });

  it('a refusal while refusals are written down is only logged', async () => {
    const locked = makeLog((batch) => other.refusals.record(callerNamed('app', [lane]), batch));
    const other = testEngine(server.url, { onRefusal: locked.hear });
    await expect(other.get(callerNamed('w', []), lane, 'task0000')).rejects.toMatchObject({ status: 403 });
    await locked.stop();
    await locked.stop();
    expect(warned).toMatchObject([{ err: { code: 'fleet_queue_off_limits' } }]);
    await other.close();
  });
});
