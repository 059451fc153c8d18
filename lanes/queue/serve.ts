/**
 * Serving a lane in its namespace: a BullMQ worker under the caller's name that hands every wake-up of the lane to
 * `onWake`, the oldest first, a bounded number at a time. A refusal by Redis closes it at once: a worker in a namespace that is not its own would otherwise ask
 * thousands of times a second.
 */
import { type Job, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { isLaneError, type LaneError } from '../errors.ts';
import { keyPrefix, type Namespace } from '../namespaces.ts';
import type { Lease } from '../records/runs.ts';
import { type Kept, keep } from './hold.ts';
import { queueName, type WakeData } from './wakes.ts';

/** What `onWake` gets beside the task's id. */
export interface Hold {
  /** Keeps a claimed lease, and this wake-up's lock with it, until stopped. Call it right after the claim. */
  keep(lease: Lease): Kept;
}

export interface ServeOptions {
  readonly lane: string;
  readonly concurrency: number;
  /** Does all of the work for one wake-up. The task may not be claimable any more: then there is nothing to do. */
  onWake(task: string, hold: Hold): Promise<void>;
  /** Hears of what goes wrong: Redis away, a wake-up that threw. After `store_refused` the serving is closed. */
  onTrouble(error: Error): void;
}

export interface Serving {
  /** Takes no more wake-ups and waits for those in hand. */
  close(): Promise<void>;
  /** Resolves once closed: with the refusal, where Redis refused. */
  readonly closed: Promise<LaneError | undefined>;
}

export interface ServeTimings {
  readonly leaseTtlMs: number;
  readonly renewEveryMs: number;
  readonly stallCheckMs: number;
}

export interface ServeParts extends ServeTimings {
  readonly ns: Namespace;
  readonly identity: string;
  /** BullMQ's connection; this serving's own. */
  readonly connection: { readonly redis: Redis; end(): void };
  renew(lease: Lease): Promise<unknown>;
  /** Called after a wake-up that kept no lease. */
  onUnused(task: string, wakeId: string): Promise<void>;
  toLaneError(error: unknown): LaneError;
}

/** A wake-up that stalled this often is dropped; the keeper gives its task a new one. */
const mostStalls = 3;
/** After an error of Redis nothing is asked for this long. */
const restMs = 1_000;

/** How long BullMQ may take to put away its last wake-ups, where it is connected. */
const closeWithinMs = 5_000;

export function serveLane(parts: ServeParts, options: ServeOptions): Serving {
  const inHand = new Set<Promise<void>>();
  const trouble = (error: Error): void => {
    // Before anybody hears of it: who does may close this as well, and the refusal must be what it ended with.
    if (isLaneError(error, 'store_refused')) void close(error);
    options.onTrouble(error);
  };
  const process = (job: Job<WakeData>, token?: string): Promise<void> => {
    const work = wake(parts, options, trouble, job, token ?? '').finally(() => inHand.delete(work));
    inHand.add(work);
    return work;
  };
  const worker = makeWorker(parts, options, process);
  let resolveClosed: (refusal: LaneError | undefined) => void = () => {};
  const closed = new Promise<LaneError | undefined>((resolve) => {
    resolveClosed = resolve;
  });
  let closing: Promise<void> | undefined;
  const close = (refusal?: LaneError): Promise<void> => {
    closing ??= endWorker(worker, inHand, parts.connection).then(() => resolveClosed(refusal));
    return closing;
  };
  worker.on('error', (cause) => {
    trouble(parts.toLaneError(cause));
    // BullMQ asks again without a pause after any error but a lost connection.
    if (closing !== undefined || worker.isPaused()) return;
    void worker.pause(true);
    setTimeout(() => closing ?? worker.resume(), restMs).unref();
  });
  return { close: () => close(), closed };
}

function makeWorker(
  parts: ServeParts,
  { lane, concurrency }: Pick<ServeOptions, 'lane' | 'concurrency'>,
  process: (job: Job<WakeData>, token?: string) => Promise<void>,
): Worker<WakeData> {
  return new Worker<WakeData>(queueName(lane), process, {
    connection: parts.connection.redis,
    prefix: keyPrefix(parts.ns),
    name: parts.identity,
    concurrency,
    skipLockRenewal: true,
    lockDuration: parts.leaseTtlMs,
    stalledInterval: parts.stallCheckMs,
    maxStalledCount: mostStalls,
    runRetryDelay: restMs,
  });
}

/** Lets the work in hand end, then BullMQ, for as long as Redis answers. */
async function endWorker(
  worker: Worker<WakeData>,
  inHand: Set<Promise<void>>,
  connection: ServeParts['connection'],
): Promise<void> {
  const ended = worker.close();
  while (inHand.size > 0) await Promise.all(inHand);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, connection.redis.status === 'ready' ? closeWithinMs : 0);
  });
  await Promise.race([ended, late]);
  clearTimeout(timer);
  connection.end();
}

async function wake(
  parts: ServeParts,
  options: ServeOptions,
  trouble: (error: Error) => void,
  job: Job<WakeData>,
  token: string,
): Promise<void> {
  const kept: Kept[] = [];
  const hold: Hold = {
    keep(lease) {
      const one = keep(lease, parts, () => job.extendLock(token, parts.leaseTtlMs));
      kept.push(one);
      return one;
    },
  };
  try {
    await options.onWake(job.data.task, hold);
    if (kept.length === 0) await parts.onUnused(job.data.task, job.id ?? '');
  } catch (error) {
    // The wake-up ends quietly: what the task needs next, its record says, and the keeper sees to it.
    trouble(error instanceof Error ? error : new Error(String(error)));
  } finally {
    for (const one of kept) one.stop();
  }
}
