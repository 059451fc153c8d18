/**
 * A worker that asks for everything and checks nothing: bare BullMQ and raw commands on a namespace that is not its own.
 * What stops it is Redis alone.
 */
import { Job, Queue, QueueEvents, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { keyPrefix, type Namespace } from '../../../lanes/namespaces.ts';
import { queueName } from '../../../lanes/queue/wakes.ts';
import type { User } from '../../support/acl.ts';

export interface Mutant {
  /** Everything it tries, by name. Each resolves or fails as Redis answers. */
  readonly attempts: Readonly<Record<string, () => Promise<unknown>>>;
  close(): Promise<void>;
}

/** `task` is one of the namespace's, as is its wake-up `job`. */
export function makeMutant(url: string, user: User, ns: Namespace, task: string, job: string): Mutant {
  const options = { ...user, maxRetriesPerRequest: null, retryStrategy: () => null };
  const redis = new Redis(url, options).on('error', () => {});
  const prefix = keyPrefix(ns);
  const bare = { connection: redis, prefix };
  const queue = new Queue(queueName('triage'), bare).on('error', () => {});
  const worker = new Worker(queueName('triage'), null, { ...bare, autorun: false }).on('error', () => {});
  const parts = { queue, worker, redis, prefix, task, job };
  const attempts = { ...throughBullmq(parts), ...rawCommands(parts), ...scripts(parts) };
  return {
    attempts: { ...attempts, events: () => listen(url, user, prefix) },
    async close() {
      await Promise.allSettled([worker.close(true), queue.close()]);
      redis.disconnect();
    },
  };
}

interface Parts {
  readonly queue: Queue;
  readonly worker: Worker;
  readonly redis: Redis;
  readonly prefix: string;
  readonly task: string;
  readonly job: string;
}

type Attempts = Record<string, () => Promise<unknown>>;

function throughBullmq({ queue, worker, job, task }: Parts): Attempts {
  const known = new Job(queue, 'wake', { task }, {}, job);
  return {
    count: () => queue.getJobCounts(),
    'count of waiting': () => queue.getWaitingCount(),
    peek: () => queue.getJob(job),
    list: () => queue.getJobs(['waiting', 'active', 'delayed']),
    add: () => queue.add('wake', { task }, { jobId: 'gh-planted' }),
    'add many': () => queue.addBulk([{ name: 'wake', data: { task } }]),
    claim: () => worker.getNextJob('its-own-token'),
    'claim with the token that needs no lock': () => worker.getNextJob('0'),
    complete: () => known.moveToCompleted('done', '0', false),
    fail: () => known.moveToFailed(new Error('buried'), '0', false),
    'extend a lock': () => known.extendLock('0', 60_000),
    'change data': () => known.updateData({ task: 'other' }),
    progress: () => known.updateProgress(50),
    log: () => known.log('was here'),
    'remove a job': () => queue.remove(job),
    pause: () => queue.pause(),
    drain: () => queue.drain(true),
    clean: () => queue.clean(0, 100, 'wait'),
    obliterate: () => queue.obliterate({ force: true }),
    scheduler: () => queue.upsertJobScheduler('every', { every: 1_000 }, { name: 'wake', data: { task } }),
    'look for stalled jobs': () => stalled(worker),
  };
}

/** What a running worker does by itself from time to time: jobs of others would be put back. */
function stalled(worker: Worker): Promise<unknown> {
  return (worker as unknown as { moveStalledJobsToWait(): Promise<unknown> }).moveStalledJobsToWait();
}

function rawCommands({ redis, prefix, task, job }: Parts): Attempts {
  const record = `${prefix}:task:${task}`;
  const raw = (name: string, ...args: (string | number)[]): [string, () => Promise<unknown>] => [
    [name, ...args].join(' ').replaceAll(prefix, '').replaceAll(task, '<task>').replaceAll(job, '<job>'),
    () => redis.call(name, ...args),
  ];
  return Object.fromEntries([
    raw('HGETALL', record),
    raw('HSET', record, 'head', 'mine'),
    raw('HINCRBY', record, 'leaseEndsAtMs', 1_000_000),
    raw('DEL', record),
    raw('UNLINK', record),
    raw('EXISTS', record),
    raw('TYPE', record),
    raw('TTL', record),
    raw('EXPIRE', record, 0),
    raw('DUMP', record),
    raw('RENAME', record, 'lanes:{lane:triage}:task:mine'),
    raw('COPY', record, 'lanes:{lane:triage}:task:mine'),
    raw('MOVE', record, 1),
    raw('OBJECT', 'ENCODING', record),
    raw('ZRANGE', `${prefix}:states`, 0, -1),
    raw('ZADD', `${prefix}:states`, 0, task),
    raw('ZCARD', `${prefix}:states`),
    raw('XADD', `${prefix}:effects`, '*', 'effect', '{}'),
    raw('XRANGE', `${prefix}:effects`, '-', '+'),
    raw('XREAD', 'COUNT', 1, 'STREAMS', `${prefix}:ledger`, '0'),
    raw('XTRIM', `${prefix}:ledger`, 'MAXLEN', 0),
    raw('SET', `${prefix}:epoch`, 'new'),
    raw('SET', `${prefix}:paused`, 'me'),
    raw('GET', `${prefix}:epoch`),
    raw('RPOPLPUSH', `${prefix}:wake.triage:wait`, `${prefix}:wake.triage:active`),
    raw('BZPOPMIN', `${prefix}:wake.triage:marker`, 1),
    raw('SET', `${prefix}:wake.triage:${job}:lock`, '0'),
    raw('SORT', `${prefix}:wake.triage:wait`),
    raw('KEYS', '*'),
    raw('SCAN', 0),
    raw('RANDOMKEY'),
    raw('DBSIZE'),
    raw('FLUSHDB'),
    raw('FLUSHALL'),
    raw('SWAPDB', 0, 1),
    raw('SELECT', 1),
    raw('CONFIG', 'GET', 'requirepass'),
    raw('ACL', 'LIST'),
    raw('ACL', 'SETUSER', 'lane:triage', 'allkeys'),
    raw('CLIENT', 'LIST'),
    raw('CLIENT', 'KILL', 'TYPE', 'normal'),
    raw('MONITOR'),
    raw('PUBLISH', 'lanes', 'x'),
    raw('SCRIPT', 'FLUSH'),
    raw('SCRIPT', 'KILL'),
    raw('FUNCTION', 'LIST'),
    raw('FUNCTION', 'FLUSH'),
    raw('SHUTDOWN', 'NOSAVE'),
    raw('REPLICAOF', '127.0.0.1', 1),
    raw('MIGRATE', '127.0.0.1', 1, record, 0, 1),
    raw('WAIT', 0, 1),
  ]);
}

function scripts({ redis, prefix, task }: Parts): Attempts {
  const record = `${prefix}:task:${task}`;
  return {
    'EVAL with the key declared': () => redis.eval("return redis.call('HGETALL', KEYS[1])", 1, record),
    'EVAL with an undeclared key': () => redis.eval(`return redis.call('HGETALL', '${record}')`, 0),
    'EVAL that writes to an undeclared key': () => redis.eval(`return redis.call('DEL', '${record}')`, 0),
    'EVAL that keeps its errors to itself': () =>
      redis.eval(`return redis.pcall('HSET', '${record}', 'head', 'mine')`, 0),
    'EVAL that declares a key of its own and takes another': () =>
      redis.eval(`return redis.call('DEL', '${record}')`, 1, 'lanes:{lane:triage}:epoch'),
    'EVAL of a command that it may not have': () => redis.eval("return redis.call('FLUSHALL')", 0),
    'EVAL that makes a key name': () =>
      redis.eval("return redis.call('GET', 'lanes:{agent:' .. 42 .. '}:epoch')", 0),
    EVAL_RO: () => redis.call('EVAL_RO', "return redis.call('HGETALL', KEYS[1])", 1, record),
  };
}

/** Resolves when BullMQ's event stream answers; fails with what Redis says. */
async function listen(url: string, user: User, prefix: string): Promise<void> {
  const connection = { ...connectionOf(url), ...user, maxRetriesPerRequest: null };
  const options = { connection, prefix, autorun: false, blockingTimeout: 50, lastEventId: '0' };
  const events = new QueueEvents(queueName('triage'), options);
  try {
    await new Promise<void>((resolve, reject) => {
      events.on('error', reject);
      events.on('waiting', () => resolve());
      events.run().catch(reject);
    });
  } finally {
    events.removeAllListeners('error').on('error', () => {});
    await events.disconnect();
  }
}

function connectionOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
