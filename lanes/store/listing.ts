/** Looking over the tasks of a namespace: counts, lists, what is due for the keeper, and forgetting old ended ones. */
import type { Redis } from 'ioredis';
import { isLaneError } from '../errors.ts';
import type { Namespace } from '../namespaces.ts';
import { type Task, type TaskState, taskStateSchema } from '../records/tasks.ts';
import { ask } from './answers.ts';
import { statesKey, taskKey } from './keys.ts';
import { fromFields, type StoredTask, taskFields } from './record.ts';
import { rankOf, scoresOf } from './scores.ts';
import { runScript } from './script.ts';
import { forgetScript } from './scripts/move.ts';

export type TaskCounts = Record<TaskState, number>;

/** At most this many tasks of one state are listed, oldest first; ended ones newest first. */
const listed = 1_000;
const pageSize = 200;
const forgottenAtOnce = 500;

export interface Listing {
  counts(): Promise<TaskCounts>;
  list(states: readonly TaskState[]): Promise<Task[]>;
  /** Running tasks whose lease has ended by `nowMs`; a page of them. */
  overdue(nowMs: number): Promise<StoredTask[]>;
  /** When the first lease of a running task ends, by Redis's clock; undefined where none runs. */
  firstLeaseEnd(): Promise<number | undefined>;
  /** All queued tasks, in pages. */
  queued(): AsyncGenerator<Task[]>;
  /** Keeps the newest `kept` ended tasks and forgets the others; answers how many went. */
  forget(kept: number): Promise<number>;
}

export function makeListing(redis: Redis, ns: Namespace): Listing {
  const readAll = async (ids: readonly string[]): Promise<StoredTask[]> => {
    const answers = await ask(redis, () =>
      Promise.all(ids.map((id) => redis.hmget(taskKey(ns, id), ...taskFields))),
    );
    return answers.map(readable).filter((stored) => stored !== null);
  };
  const key = statesKey(ns);
  const size = (state: TaskState): Promise<number> => ask(redis, () => redis.zcount(key, ...scoresOf(state)));

  return {
    async counts() {
      const states = taskStateSchema.options;
      const sizes = await Promise.all(states.map(size));
      return Object.fromEntries(states.map((state, i) => [state, sizes[i] ?? 0])) as TaskCounts;
    },

    async list(states) {
      const found: Task[] = [];
      for (const state of states) {
        const [from, to] = scoresOf(state);
        const ended = state === 'complete' || state === 'cancelled';
        const ids = await ask(redis, () =>
          ended
            ? redis.zrevrangebyscore(key, to, from, 'LIMIT', 0, listed)
            : redis.zrangebyscore(key, from, to, 'LIMIT', 0, listed),
        );
        for (const page of pages(ids)) for (const { task } of await readAll(page)) found.push(task);
      }
      return found;
    },

    async overdue(nowMs) {
      const scores = scoresOf('running', nowMs);
      return readAll(await ask(redis, () => redis.zrangebyscore(key, ...scores, 'LIMIT', 0, pageSize)));
    },

    async firstLeaseEnd() {
      const first = ['WITHSCORES', 'LIMIT', 0, 1] as const;
      const [, score] = await ask(redis, () => redis.zrangebyscore(key, ...scoresOf('running'), ...first));
      return score === undefined ? undefined : Number(score) - rankOf('running');
    },

    async *queued() {
      for (const page of pages(await ask(redis, () => redis.zrangebyscore(key, ...scoresOf('queued')))))
        yield (await readAll(page)).map(({ task }) => task);
    },

    async forget(kept) {
      const excess = Math.min((await size('complete')) + (await size('cancelled')) - kept, forgottenAtOnce);
      if (excess <= 0) return 0;
      const oldest = async (state: 'complete' | 'cancelled'): Promise<{ id: string; atMs: number }[]> => {
        const limit = ['WITHSCORES', 'LIMIT', 0, excess] as const;
        const flat = await ask(redis, () => redis.zrangebyscore(key, ...scoresOf(state), ...limit));
        return flat.flatMap((id, i) =>
          i % 2 === 0 ? [{ id, atMs: Number(flat[i + 1]) - rankOf(state) }] : [],
        );
      };
      const ended = [...(await oldest('complete')), ...(await oldest('cancelled'))];
      const going = ended.sort((a, b) => a.atMs - b.atMs).slice(0, excess);
      const ids = going.map(({ id }) => id);
      const keys = [key, ...ids.map((id) => taskKey(ns, id))];
      await ask(redis, () => runScript(redis, forgetScript, keys, ids));
      return going.length;
    },
  };
}

/**
 * A record that cannot be read is on no list: it must not hold up the others. Whoever asks for that task hears of it.
 */
function readable(fields: readonly unknown[]): StoredTask | null {
  try {
    return fromFields(fields);
  } catch (error) {
    if (isLaneError(error, 'store_unavailable')) return null;
    throw error;
  }
}

function pages(ids: readonly string[]): string[][] {
  const all: string[][] = [];
  for (let at = 0; at < ids.length; at += pageSize) all.push(ids.slice(at, at + pageSize));
  return all;
}
