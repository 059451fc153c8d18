/**
 * Tasks as they were when they were handed to a box: what most ends of runs are still based on, so that recording one
 * need not read the task first. A memory that forgets is no harm: the store compares what a record is based on.
 */
import type { Lease, Task } from '../../lanes/index.ts';

export interface HandedOut {
  add(lease: Lease, task: Task): void;
  /** The task that was handed out with this lease, once; undefined where it is not known any more. */
  take(lease: Lease): Task | undefined;
}

/** Boxes work on one run at a time; beyond this many the oldest are forgotten. */
const mostKept = 1_000;

export function makeHandedOut(): HandedOut {
  const kept = new Map<string, Task>();
  return {
    add({ id }, task) {
      kept.set(id, task);
      const [oldest] = kept.keys();
      if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
    },
    take({ id }) {
      const task = kept.get(id);
      kept.delete(id);
      return task;
    },
  };
}
