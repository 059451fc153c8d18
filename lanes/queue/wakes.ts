/**
 * Wake-ups: BullMQ jobs that say "look at this task". They carry its id and nothing else; the task record is the
 * authority. A wake-up may be lost, late or doubled without harm: the keeper adds what is missing, and a claim decides.
 *
 * Each lane has a queue of its own inside its namespace: so a worker takes a wake-up only for a lane that it knows and
 * has room for, oldest first, and lanes that share a namespace do not stand in each other's way.
 */
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { keyPrefix, type Namespace } from '../namespaces.ts';
import type { Task } from '../records/tasks.ts';

/** The queue of a lane's wake-ups. */
export function queueName(lane: string): string {
  return `wake.${lane}`;
}

/** How long wake-ups to be dropped are gathered. */
const gatherMs = 500;

export interface WakeData {
  readonly task: string;
}

/** What a task's wake-up is derived from. */
export type Waking = Pick<Task, 'id' | 'lane' | 'run' | 'wakes' | 'notBeforeMs'>;

/**
 * The id of a task's current wake-up. Another run or another wake-up is another job, so that one that is still active
 * never swallows the next: BullMQ drops a job whose id is there.
 */
export function wakeId({ id, run, wakes }: Pick<Waking, 'id' | 'run' | 'wakes'>): string {
  return `gh-${id}-${run}-${wakes}`;
}

export interface Wakes {
  /** Adds a task's current wake-up, due at its first moment; harmless where it is there. */
  add(task: Waking, nowMs: number): Promise<void>;
  /** Those of `tasks` whose current wake-up is not there, in any state of BullMQ. */
  missing<T extends Waking>(tasks: readonly T[]): Promise<T[]>;
  /**
   * Takes away, some time later, the wake-up that a task had before it was claimed without one. It is of no use any more;
   * left where nobody is woken it would stay for ever.
   */
  dropLater(claimed: Waking): void;
  close(): Promise<void>;
}

/** Asks Redis within a bounded time and names its errors. */
export type Ask = <T>(redis: Redis, call: () => Promise<T>) => Promise<T>;

/** Sends on the connection of verbs, so that a wake-up never overtakes the record that was sent before it. */
export function makeWakes(redis: Redis, ns: Namespace, ask: Ask): Wakes {
  const prefix = keyPrefix(ns);
  const queues = new Map<string, Queue<WakeData>>();
  const queueOf = (lane: string): Queue<WakeData> => {
    const queue = queues.get(lane) ?? openQueue(redis, prefix, lane);
    queues.set(lane, queue);
    return queue;
  };
  let unused: { lane: string; id: string }[] = [];
  let timer: NodeJS.Timeout | undefined;
  /** Together, since each write on its own waits for the disk. One that fails stays: it does no harm. */
  const dropUnused = (): void => {
    timer = undefined;
    const dropped = unused;
    unused = [];
    for (const { lane, id } of dropped) {
      ask(redis, () => queueOf(lane).remove(id, { removeChildren: false })).catch(() => {});
    }
  };
  const options = { attempts: 1, removeOnComplete: true, removeOnFail: true } as const;

  return {
    async add(task, nowMs) {
      const delay = Math.max(task.notBeforeMs - nowMs, 0);
      const jobId = wakeId(task);
      await ask(redis, () => queueOf(task.lane).add('wake', { task: task.id }, { ...options, jobId, delay }));
    },

    async missing(tasks) {
      const keys = tasks.map((task) => `${prefix}:${queueName(task.lane)}:${wakeId(task)}`);
      const there = await ask(redis, () => Promise.all(keys.map((key) => redis.exists(key))));
      return tasks.filter((_task, i) => there[i] === 0);
    },

    dropLater({ id, lane, run, wakes }) {
      unused.push({ lane, id: wakeId({ id, run: run - 1, wakes }) });
      timer ??= setTimeout(dropUnused, gatherMs).unref();
    },

    async close() {
      clearTimeout(timer);
      await Promise.all([...queues.values()].map((queue) => queue.close()));
    },
  };
}

function openQueue(redis: Redis, prefix: string, lane: string): Queue<WakeData> {
  const queue = new Queue<WakeData>(queueName(lane), { connection: redis, prefix });
  // Errors reach the caller of `add`; an emitter without a listener would throw.
  queue.on('error', () => {});
  return queue;
}
