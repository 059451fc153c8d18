/**
 * Scores in the index of tasks: the state's rank, then a time in ms - queued by when it may start, running by the
 * lease's end, others by their last change.
 */
import { type Task, type TaskState, taskStateSchema } from '../records/tasks.ts';

/** Above every time in ms for the next three centuries; six of them stay exact in a double. */
const span = 10_000_000_000_000;

/** Where a state's scores begin. They end before the next state's. */
export function rankOf(state: TaskState): number {
  return taskStateSchema.options.indexOf(state) * span;
}

/** The scores of a state, up to `untilMs` where given: for ZRANGE with BYSCORE, and ZCOUNT. */
export function scoresOf(state: TaskState, untilMs: number = span - 1): [number, number] {
  return [rankOf(state), rankOf(state) + untilMs];
}

/** The score of a task that comes into its state. A running one's is the claim script's. */
export function scoreOf({ state, notBeforeMs, changedAtMs }: Task): number {
  return rankOf(state) + (state === 'queued' ? notBeforeMs : changedAtMs);
}
