/**
 * The incident: a warm worker asked whether anything was pending, was told of another machine's work, took it, failed and
 * buried it. Here as it is now, under each namespace's own user of Redis; and as it was, on one shared queue.
 */
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Engine, openRedis, type RefusalEvent } from '../../../lanes/index.ts';
import type { Namespace } from '../../../lanes/namespaces.ts';
import { makeUser, type User } from '../../support/acl.ts';
import { agentLane, testEngine } from '../../support/engine.ts';
import { type OwnRedis, startOwnRedis } from '../../support/redis.ts';
import { callerNamed, lane, met, newTask, result } from '../../support/tasks.ts';
import { until } from '../../support/until.ts';

let server: OwnRedis;
let admin: Redis;
const users = new Map<Namespace, User>();
const engines: Engine[] = [];
const refusals: RefusalEvent[] = [];

const app = callerNamed('app', [lane, agentLane]);
const warm = callerNamed('warm', [lane]);
const box = callerNamed('box-42', [agentLane]);
const end = result([met('c1')]);

beforeAll(async () => {
  server = await startOwnRedis();
  admin = new Redis(server.url);
  for (const ns of [lane, agentLane]) users.set(ns, await makeUser(admin, ns));
});
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});
beforeEach(async () => {
  await admin.flushdb();
  refusals.length = 0;
});
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
});

/** An engine in a process that holds these credentials and no other: for any other namespace it has only a wrong one. */
function engineWith(namespaces: readonly [Namespace, ...Namespace[]]): Engine {
  const connect = (ns: Namespace): Redis => {
    const user = users.get(namespaces.includes(ns) ? ns : namespaces[0]);
    return openRedis(server.url, user);
  };
  const engine = testEngine(server.url, { connect, onRefusal: (refusal) => refusals.push(refusal) });
  engines.push(engine);
  return engine;
}

const bytesOf = (id: string): Promise<Buffer> => admin.dumpBuffer(`lanes:{${agentLane}}:task:${id}`);

/** The warm worker drains its own lane of three tasks, and stays there. */
async function drain(engine: Engine, ids: readonly string[]): Promise<void> {
  await engine.serve(warm, lane, {
    lane: 'triage',
    concurrency: 2,
    onTrouble: () => {},
    async onWake(id) {
      const claim = await engine.claim(warm, lane, id);
      if (claim.kind === 'claimed') await engine.record(warm, claim.lease, claim.task, end);
    },
  });
  for (const id of ids)
    await until(`${id} is done`, async () => (await engine.get(warm, lane, id))?.state === 'closing');
}

describe('a task that waits for a box that has not booted', () => {
  it('is not counted, not claimed and not touched by a warm worker, and the box completes it', async () => {
    const server42 = engineWith([agentLane, lane]);
    const warmEngine = engineWith([lane]);
    const own = await Promise.all([1, 2, 3].map(() => server42.admit(app, newTask())));
    const { id } = await server42.admit(app, newTask({ namespace: agentLane }));
    const before = await bytesOf(id);

    await drain(
      warmEngine,
      own.map((task) => task.id),
    );
    expect(await warmEngine.pending(warm)).toEqual([{ namespace: lane, tasks: 0 }]);
    expect(await warmEngine.count(warm)).toMatchObject({ queued: 0, running: 0 });
    expect((await warmEngine.list(warm)).map((task) => task.namespace)).not.toContain(agentLane);
    const code = 'fleet_queue_off_limits';
    await expect(warmEngine.claim(warm, agentLane, id)).rejects.toMatchObject({ code });
    await expect(warmEngine.claimNext(warm, agentLane)).rejects.toMatchObject({ code });
    await expect(warmEngine.pending(warm, agentLane)).rejects.toMatchObject({ code });
    expect(refusals).toMatchObject(
      ['claim', 'claimNext', 'pending'].map((verb) => ({ by: 'warm', verb, namespace: agentLane, code })),
    );
    expect((await bytesOf(id)).equals(before)).toBe(true);

    const booted = engineWith([agentLane]);
    expect(await booted.pending(box, agentLane)).toEqual([{ namespace: agentLane, tasks: 1 }]);
    const claim = await booted.claimNext(box, agentLane);
    if (claim === null) throw new Error('nothing was left for the box');
    await booted.record(box, claim.lease, claim.task, end);
    const done = await server42.settle(app, agentLane, id, { to: 'complete' });
    expect(done).toMatchObject({ state: 'complete', claimedBy: 'box-42', run: 1 });
  });

  it('is out of reach even for a worker that says it is granted everything: Redis refuses it', async () => {
    const { id } = await engineWith([agentLane]).admit(app, newTask({ namespace: agentLane }));
    const before = await bytesOf(id);
    const liar = callerNamed('warm', [lane, agentLane]);
    const warmEngine = engineWith([lane]);
    const refused = { code: 'store_refused' };
    await expect(warmEngine.pending(liar, agentLane)).rejects.toMatchObject(refused);
    await expect(warmEngine.count(liar, agentLane)).rejects.toMatchObject(refused);
    await expect(warmEngine.claim(liar, agentLane, id)).rejects.toMatchObject(refused);
    await expect(warmEngine.claimNext(liar, agentLane)).rejects.toMatchObject(refused);
    await expect(warmEngine.pause(liar, agentLane)).rejects.toMatchObject(refused);
    await expect(warmEngine.repair(liar, agentLane)).rejects.toMatchObject(refused);
    const serving = await warmEngine.serve(liar, agentLane, {
      lane: 'triage',
      concurrency: 1,
      onTrouble: () => {},
      onWake: () => Promise.reject(new Error('it was woken for work that is not its own')),
    });
    expect(await serving.closed).toMatchObject(refused);
    await until('the refusal of the serving is heard', async () => refusals.at(-1)?.verb === 'serve');
    expect(refusals.map(({ verb }) => verb)).toEqual([
      'pending',
      'count',
      'claim',
      'claimNext',
      'pause',
      'repair',
      'serve',
    ]);
    expect((await bytesOf(id)).equals(before)).toBe(true);
  });
});

describe('the same scene on one shared queue of bare BullMQ', () => {
  it('is the theft: counted, claimed by nobody in particular, failed, and gone when the box boots', async () => {
    const connection = { url: server.url, maxRetriesPerRequest: null };
    const queue = new Queue('tasks', { connection });
    const forBox = { target: 'agent:42' };
    const job = await queue.add('task', forBox, { attempts: 1, removeOnFail: false });
    expect(await queue.count()).toBe(1);

    const thief = new Worker(
      'tasks',
      ({ data }) => Promise.reject(new Error(`this machine is not ${data.target}`)),
      { connection },
    );
    await until('it is taken and buried', async () => (await queue.getFailedCount()) === 1);
    expect((await queue.getJob(job.id ?? ''))?.processedBy).toBeUndefined();
    await thief.close();

    expect(await queue.count()).toBe(0);
    const booted = new Worker('tasks', null, { connection, name: 'box-42' });
    expect(await booted.getNextJob('token', { block: false })).toBeUndefined();
    await booted.close();
    await queue.close();
  });
});
