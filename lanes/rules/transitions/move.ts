/**
 * What every transition returns: the next record with its effects and its ledger event, or a refusal. Transitions are
 * pure. The store writes a move only if the record is still the one that the decision was based on.
 */
import type { LaneErrorCode } from '../../errors.ts';
import type { Actor } from '../../records/common.ts';
import type { TaskEffect } from '../../records/effects.ts';
import type { TaskEvent } from '../../records/ledger.ts';
import type { PastRun } from '../../records/runs.ts';
import { liveStates, type ParkReason, type Task, type TaskState } from '../../records/tasks.ts';

/** Characters of a task's detail that are kept. */
export const maxDetail = 4_000;

/** The longest history and list of answers that a task keeps; older entries are in the ledger. */
export const keptEntries = 50;

export interface Move {
  /** The next record, with its revision already one higher. */
  readonly task: Task;
  readonly effects: readonly TaskEffect[];
  readonly event: { readonly event: TaskEvent['event']; readonly by: string; readonly detail: string };
}
export interface Refusal {
  readonly refused: LaneErrorCode;
  readonly why: string;
}
export type Transition = Move | Refusal;

/** Who acts and when: the caller's identity, the person behind it where there is one, Redis's clock in ms. */
export interface Act {
  readonly by: string;
  readonly actor?: Actor | undefined;
  readonly nowMs: number;
}

/** The actor as the ledger names it: `app (@alice)`. */
export function nameOf(act: Act): string {
  return act.actor === undefined ? act.by : `${act.by} (@${act.actor.login})`;
}

export function refuse(refused: LaneErrorCode, why: string): Refusal {
  return { refused, why };
}

/** Whether a task is not ended. An ended task never moves again. */
export function isLive(task: Task): boolean {
  return liveStates.includes(task.state);
}

/** Changes to a record. A property that is undefined is taken away: JSON, in which records live, leaves it out. */
export type Changes = { readonly [K in keyof Task]?: Task[K] | undefined };

/** What ends with a change of state: the lease, and why the task was parked. */
const released = { lease: undefined, progress: undefined, reason: undefined, detail: undefined };

/** The next record in the same state, its revision one higher. */
export function next(task: Task, nowMs: number, changes: Changes): Task {
  return { ...task, ...changes, revision: task.revision + 1, changedAtMs: nowMs } as Task;
}

/** The next record in another state. */
export function moveTo(state: TaskState, task: Task, nowMs: number, changes: Changes): Task {
  const { revision } = task;
  return { ...task, ...released, ...changes, state, revision: revision + 1, changedAtMs: nowMs } as Task;
}

/** Back to the queue, with a wake-up of its own. */
export function toQueue(task: Task, nowMs: number, waitMs: number): Task {
  return moveTo('queued', task, nowMs, { notBeforeMs: nowMs + waitMs, wakes: task.wakes + 1 });
}

/** Parked, with the note that says why. `from` carries the changes of the run or command that led here. */
export function toParked(
  from: Task,
  act: Act,
  event: Move['event'],
  reason: ParkReason,
  detail: string,
): Move {
  const sequence = from.noteSequence + 1;
  const why = { reason, detail: detail.slice(0, maxDetail) };
  const task = moveTo('parked', from, act.nowMs, { ...why, noteSequence: sequence });
  const actor = act.actor === undefined ? {} : { actor: act.actor };
  return {
    task,
    effects: [{ kind: 'note', state: 'parked', sequence, task, atMs: act.nowMs, ...actor }],
    event,
  };
}

/** Closing, with the order to take a fresh look and close. */
export function toClosing(from: Task, act: Act, event: Move['event']): Move {
  const sequence = from.noteSequence + 1;
  const task = moveTo('closing', from, act.nowMs, { noteSequence: sequence });
  return {
    task,
    effects: [{ kind: 'close', sequence, task: { id: task.id, issue: task.issue }, atMs: act.nowMs }],
    event,
  };
}

/** The history with one more line, bounded. */
export function withPast(task: Task, past: PastRun): PastRun[] {
  return [...task.history, { ...past, detail: past.detail.slice(0, 500) }].slice(-keptEntries);
}
