/**
 * One of the two servers that `fleet_http` compares, in a process of its own: `ours`, the fleet API behind the door on a
 * real engine, or `peer`, a bare Hono handler that fetches and completes BullMQ jobs. Both have a Redis of their own,
 * started alike. The parent says how many tasks to add; it ends when the parent says so.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import { type Job, Queue, Worker } from 'bullmq';
import { Hono } from 'hono';
import { Redis } from 'ioredis';
import { startEmbeddedRedis } from '../../lanes/index.ts';
import { boxInput, openHost, startFleet } from '../app/fleet/support.ts';
import { agentLane, testEngine } from '../support/engine.ts';
import { callerNamed, newTask } from '../support/tasks.ts';

interface Running {
  port: number;
  token: string;
  add(count: number): Promise<void>;
  close(): Promise<void>;
}

async function startOurs(url: string): Promise<Running> {
  const engine = testEngine(url);
  const input = boxInput(newTask());
  const mayBegin = async () => ({ allowed: true as const, input });
  const world = await startFleet(engine, { host: { ...openHost(engine), mayBegin } });
  const app = callerNamed('app', [agentLane]);
  return {
    port: Number(new URL(world.url).port),
    token: world.token,
    async add(count) {
      const tasks = Array.from({ length: count }, () => newTask({ namespace: agentLane, lane: 'boxed' }));
      await Promise.all(tasks.map((task) => engine.admit(app, task)));
    },
    async close() {
      await world.stop();
      await engine.close();
    },
  };
}

async function startPeer(url: string): Promise<Running> {
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  const queue = new Queue('bare', { connection });
  const worker = new Worker('bare', null, { connection, autorun: false });
  const jobs = new Map<string, Job>();
  const app = new Hono();
  app.post('/claim', async (c) => {
    const token = crypto.randomUUID();
    const job = await worker.getNextJob(token, { block: false });
    if (job === undefined || job.id === undefined) return c.body(null, 204);
    jobs.set(token, job);
    return c.json({ lease: token, task: job.data });
  });
  app.post('/complete', async (c) => {
    const { lease } = await c.req.json();
    const job = jobs.get(lease);
    if (job === undefined) return c.body(null, 409);
    jobs.delete(lease);
    await job.moveToCompleted('done', lease, false);
    return c.json({ state: 'complete' });
  });
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    token: '',
    async add(count) {
      const opts = { removeOnComplete: true, removeOnFail: true };
      await queue.addBulk(Array.from({ length: count }, () => ({ name: 'bare', data: newTask(), opts })));
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await worker.close();
      await queue.close();
      connection.disconnect();
    },
  };
}

const root = mkdtempSync(join(tmpdir(), 'lanekeeper-bench-'));
const redis = await startEmbeddedRedis({ dataDir: root });
const running = await (process.argv[2] === 'ours' ? startOurs(redis.url) : startPeer(redis.url));
process.on('message', async (count) => {
  await running.add(Number(count));
  process.send?.({ added: count });
});
process.send?.({ port: running.port, token: running.token });
await once(process, 'disconnect');
await running.close();
await redis.stop();
rmSync(root, { recursive: true });
