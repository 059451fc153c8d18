/**
 * Wake-ups: BullMQ jobs that say "look at this task". They carry its id and nothing else; the task record is the
 * authority. A wake-up may be lost, late or doubled without harm: the keeper adds what is missing, and a claim decides.
 */
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { keyPrefix, type Namespace } from '../namespaces.ts';
import type { Task } from '../records/tasks.ts';

export const queueName = 'wake';

export interface WakeData {
  readonly task: string;
}

/** What a task's wake-up is derived from. */
export type Waking = Pick<Task, 'id' | 'run' | 'wakes' | 'notBeforeMs'>;

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
  close(): Promise<void>;
}

/** Asks Redis within a bounded time and names its errors. */
export type Ask = <T>(redis: Redis, call: () => Promise<T>) => Promise<T>;

export function makeWakes(verbs: Redis, forQueue: Redis, ns: Namespace, ask: Ask): Wakes {
  const prefix = keyPrefix(ns);
  const queue = new Queue<WakeData>(queueName, { connection: forQueue, prefix });
  // Errors reach the caller of `add`; an emitter without a listener would throw.
  queue.on('error', () => {});
  const options = { attempts: 1, removeOnComplete: true, removeOnFail: true } as const;

  return {
    async add(task, nowMs) {
      const delay = Math.max(task.notBeforeMs - nowMs, 0);
      const jobId = wakeId(task);
      await ask(forQueue, () => queue.add('wake', { task: task.id }, { ...options, jobId, delay }));
    },

    async missing(tasks) {
      const keys = tasks.map((task) => `${prefix}:${queueName}:${wakeId(task)}`);
      const there = await ask(verbs, () => Promise.all(keys.map((key) => verbs.exists(key))));
      return tasks.filter((_task, i) => there[i] === 0);
    },

    close: () => queue.close(),
  };
}
