import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhooks } from '@octokit/webhooks';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Consumer, type ReceivedEvent, startConsumer } from '../../../app/intake/consumer.ts';
import { createDoor, webhookPath } from '../../../app/intake/door.ts';
import {
  createEngine,
  type EmbeddedRedis,
  type Engine,
  openRedis,
  startEmbeddedRedis,
} from '../../../lanes/index.ts';
import { intakeNamespace, makeCaller, makeRegistry } from '../../../lanes/namespaces.ts';

const secret = 'a secret that nobody knows';
const caller = makeCaller('app', [intakeNamespace]);
const log = { warn: () => {} };
let redis: EmbeddedRedis;
let root: string;
let engine: Engine;
let door: Server;
let consumer: Consumer | null;
let url: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'lanekeeper-durable-'));
  redis = await startEmbeddedRedis({ dataDir: join(root, 'redis') });
});
afterAll(async () => {
  await redis?.stop();
  rmSync(root, { recursive: true });
});
beforeEach(async () => {
  const wipe = new Redis(redis.url);
  await wipe.flushall();
  wipe.disconnect();
  consumer = null;
  engine = createEngine({
    connect: () => openRedis(redis.url),
    registry: makeRegistry([]),
    id: () => randomUUID(),
    redeliverAfterMs: 300,
  });
  door = createDoor({
    secret,
    recordDelivery: (delivery) => engine.deliveries.record(caller, delivery),
    isReady: () => engine.issues.get(caller, 1, 1).then(() => true),
    now: () => 1,
    log,
  });
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  url = `http://127.0.0.1:${(door.address() as AddressInfo).port}${webhookPath}`;
});
afterEach(async () => {
  await consumer?.stop();
  door.closeAllConnections();
  await new Promise((resolve) => door.close(resolve));
  await engine.close();
});

async function post(guid: string, payload: unknown): Promise<number> {
  const body = JSON.stringify(payload);
  const headers = {
    'content-type': 'application/json',
    'x-github-delivery': guid,
    'x-github-event': 'issues',
    'x-hub-signature-256': await new Webhooks({ secret }).sign(body),
  };
  return (await fetch(url, { method: 'POST', headers, body })).status;
}

function consume(receive: (event: ReceivedEvent) => Promise<void>): void {
  const { deliveries } = engine;
  consumer = startConsumer({
    queue: {
      take: (limits) => deliveries.take(caller, limits),
      done: (id) => deliveries.done(caller, id),
      failed: (id, why) => deliveries.failed(caller, id, why),
    },
    receive,
    log,
  });
}

/** Consumes until `count` deliveries have come through `receive`. */
function received(count: number, receive: (event: ReceivedEvent) => Promise<void> = async () => {}) {
  const events: ReceivedEvent[] = [];
  return new Promise<ReceivedEvent[]>((resolve) =>
    consume(async (event) => {
      events.push(event);
      if (events.length === count) resolve(events);
      await receive(event);
    }),
  );
}

const issue = (number: number) => ({ action: 'labeled', repository: { id: 1 }, issue: { number } });

describe('on real Redis', () => {
  it('what was answered 202 reaches Probot in order, also where it starts only later', async () => {
    const guids = Array.from({ length: 5 }, () => randomUUID());
    for (const [index, guid] of guids.entries()) expect(await post(guid, { ...issue(1), index })).toBe(202);
    const events = await received(5);
    expect(events.map((event) => event.id)).toEqual(guids);
    expect(events[0]).toMatchObject({ name: 'issues', payload: { ...issue(1), index: 0 } });
  });

  it('the same delivery twice is answered twice and handled once', async () => {
    const guid = randomUUID();
    expect(await post(guid, issue(1))).toBe(202);
    expect(await post(guid.toUpperCase(), issue(1))).toBe(202);
    const last = randomUUID();
    await post(last, issue(1));
    expect((await received(2)).map((event) => event.id)).toEqual([guid, last]);
  });

  it('a delivery whose hook fails comes again, and then is set aside', async () => {
    const guid = randomUUID();
    await post(guid, issue(1));
    await received(5, () => Promise.reject(new Error('a hook broke')));
    await consumer?.stop();
    const dead = await engine.deliveries.dead(caller, 10);
    expect(dead.map((one) => [one.delivery.guid, one.why])).toEqual([[guid, 'Error: a hook broke']]);
  });

  it('while Redis stands still the door answers 503, and goes on when it goes on', {
    timeout: 120_000,
  }, async () => {
    process.kill(redis.pid, 'SIGSTOP');
    try {
      expect(await post(randomUUID(), issue(1))).toBe(503);
      expect((await fetch(new URL('/readyz', url))).status).toBe(503);
    } finally {
      process.kill(redis.pid, 'SIGCONT');
    }
    expect(await post(randomUUID(), issue(2))).toBe(202);
  });
});
