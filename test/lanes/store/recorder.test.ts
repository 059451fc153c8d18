import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isLaneError } from '../../../lanes/errors.ts';
import { intakeNamespace } from '../../../lanes/namespaces.ts';
import { openRedis } from '../../../lanes/store/connect.ts';
import { type EmbeddedRedis, startEmbeddedRedis } from '../../../lanes/store/embedded.ts';
import { deliveriesKey } from '../../../lanes/store/keys.ts';
import { unpackPayload } from '../../../lanes/store/packed.ts';
import { makeRecorder } from '../../../lanes/store/recorder.ts';
import { toRecord } from '../../../lanes/store/streams.ts';

let root: string;
let server: EmbeddedRedis;
let redis: Redis;
const delivery = (guid: string, payload = '{}') => ({ guid, event: 'issues', payload, receivedAtMs: 1 });

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'lanekeeper-recorder-'));
  server = await startEmbeddedRedis({ dataDir: root });
});
afterAll(async () => {
  redis?.disconnect();
  await server?.stop();
  rmSync(root, { recursive: true });
});
beforeEach(async () => {
  redis?.disconnect();
  redis = openRedis(server.url);
  const wipe = new Redis(server.url);
  await wipe.flushall();
  wipe.disconnect();
});

async function recordedGuids(): Promise<string[]> {
  const entries = await redis.xrange(deliveriesKey(intakeNamespace), '-', '+');
  return entries.map(([, fields]) => fields[1] ?? '');
}

describe('deliveries that come together', () => {
  it('are all recorded, in the order in which they came', async () => {
    const record = makeRecorder(redis, intakeNamespace);
    const guids = Array.from({ length: 200 }, () => randomUUID());
    const outcomes = await Promise.all(guids.map((guid) => record(delivery(guid))));
    expect(new Set(outcomes)).toEqual(new Set(['recorded']));
    expect(await recordedGuids()).toEqual(guids);
  });

  it('with one GUID are recorded once, and each is told', async () => {
    const record = makeRecorder(redis, intakeNamespace);
    const [one, other] = [randomUUID(), randomUUID()];
    const outcomes = await Promise.all([one, one, other, one, other].map((guid) => record(delivery(guid))));
    expect(outcomes).toEqual(['recorded', 'duplicate', 'recorded', 'duplicate', 'duplicate']);
    expect(await recordedGuids()).toEqual([one, other]);
  });

  it('may be larger together, and one by one, than a script holds', async () => {
    const record = makeRecorder(redis, intakeNamespace);
    const sizes = [3_000_000, 10, 900_000, 900_000, 2_000_000, 10];
    const outcomes = await Promise.all(sizes.map((size) => record(delivery(randomUUID(), 'x'.repeat(size)))));
    expect(outcomes).toHaveLength(6);
    const entries = await redis.xrange(deliveriesKey(intakeNamespace), '-', '+');
    expect(entries.map(([, fields]) => unpackPayload(toRecord(fields))?.length)).toEqual(sizes);
  });

  it('take a fraction of their bytes in Redis, and keep every character', async () => {
    const record = makeRecorder(redis, intakeNamespace);
    const payload = JSON.stringify({ body: '- [ ] größer 😀\n'.repeat(500), '\u2028': '\0' });
    await record(delivery(randomUUID(), payload));
    const [[, fields = []] = []] = await redis.xrange(deliveriesKey(intakeNamespace), '-', '+');
    expect(fields.join('').length).toBeLessThan(payload.length / 5);
    expect(unpackPayload(toRecord(fields))).toBe(payload);
  });

  it('are all refused in bounded time while Redis stands still, and taken again afterwards', {
    timeout: 60_000,
  }, async () => {
    const record = makeRecorder(redis, intakeNamespace);
    await record(delivery(randomUUID()));
    process.kill(server.pid, 'SIGSTOP');
    const start = performance.now();
    try {
      const failures = await Promise.allSettled(
        Array.from({ length: 100 }, () => record(delivery(randomUUID()))),
      );
      const reasons = failures.map(
        (one) => one.status === 'rejected' && isLaneError(one.reason, 'store_unavailable'),
      );
      expect(reasons.every(Boolean)).toBe(true);
      expect(performance.now() - start).toBeLessThan(25_000);
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
    expect(await record(delivery(randomUUID()))).toBe('recorded');
  });
});
