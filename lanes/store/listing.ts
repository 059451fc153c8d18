/** Looking over the tasks of a namespace: counts, lists, what is due for the keeper, and forgetting old ended ones. */
import type { Redis } from 'ioredis';
import type { Namespace } from '../namespaces.ts';
import { type Task, type TaskState, taskStateSchema } from '../records/tasks.ts';
import { ask } from './answers.ts';
import { stateKey, taskKey } from './keys.ts';
import { fromFields, type StoredTask } from './record.ts';
import { runScript } from './script.ts';
import { forgetScript } from './scripts/move.ts';
import { taskFields } from './scripts/shared.ts';

export type TaskCounts = Record<TaskState, number>;

/** At most this many tasks of one state are listed, oldest first; of ended ones the newest. */
const listed = 1_000;
const pageSize = 200;
const forgottenAtOnce = 500;

export interface Listing {
  counts(): Promise<TaskCounts>;
  list(states: readonly TaskState[]): Promise<Task[]>;
  /** Running tasks whose lease has ended by `nowMs`; a page of them. */
  overdue(nowMs: number): Promise<StoredTask[]>;
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
    return answers.map(fromFields).filter((stored) => stored !== null);
  };
  const size = (state: TaskState): Promise<number> => ask(redis, () => redis.zcard(stateKey(ns, state)));

  return {
    async counts() {
      const states = taskStateSchema.options;
      const sizes = await Promise.all(states.map(size));
      return Object.fromEntries(states.map((state, i) => [state, sizes[i] ?? 0])) as TaskCounts;
    },

    async list(states) {
      const found: Task[] = [];
      for (const state of states) {
        const ended = state === 'complete' || state === 'cancelled';
        const [from, to] = ended ? [-listed, -1] : [0, listed - 1];
        const ids = await ask(redis, () => redis.zrange(stateKey(ns, state), from, to));
        for (const page of pages(ids)) for (const { task } of await readAll(page)) found.push(task);
      }
      return found;
    },

    async overdue(nowMs) {
      const key = stateKey(ns, 'running');
      return readAll(await ask(redis, () => redis.zrangebyscore(key, '-inf', nowMs, 'LIMIT', 0, pageSize)));
    },

    async *queued() {
      for (const page of pages(await ask(redis, () => redis.zrange(stateKey(ns, 'queued'), 0, -1))))
        yield (await readAll(page)).map(({ task }) => task);
    },

    async forget(kept) {
      const excess = Math.min((await size('complete')) + (await size('cancelled')) - kept, forgottenAtOnce);
      if (excess <= 0) return 0;
      const oldest = async (state: TaskState): Promise<{ state: TaskState; id: string; at: number }[]> => {
        const flat = await ask(redis, () => redis.zrange(stateKey(ns, state), 0, excess - 1, 'WITHSCORES'));
        return flat.flatMap((id, i) => (i % 2 === 0 ? [{ state, id, at: Number(flat[i + 1]) }] : []));
      };
      const ended = [...(await oldest('complete')), ...(await oldest('cancelled'))];
      const going = ended.sort((a, b) => a.at - b.at).slice(0, excess);
      for (const state of ['complete', 'cancelled'] as const) {
        const ids = going.filter((item) => item.state === state).map(({ id }) => id);
        const keys = [stateKey(ns, state), ...ids.map((id) => taskKey(ns, id))];
        if (ids.length > 0) await ask(redis, () => runScript(redis, forgetScript, keys, ids));
      }
      return going.length;
    },
  };
}

function pages(ids: readonly string[]): string[][] {
  const all: string[][] = [];
  for (let at = 0; at < ids.length; at += pageSize) all.push(ids.slice(at, at + pageSize));
  return all;
}
