/** What people (and the App on their behalf) do to a task: park, resume, retry, cancel, take back. */
import type { Criterion } from '../../records/criteria.ts';
import type { ParkReason, Task } from '../../records/tasks.ts';
import {
  type Act,
  isLive,
  keptEntries,
  moveTo,
  nameOf,
  refuse,
  type Transition,
  toParked,
  toQueue,
  withPast,
} from './move.ts';

export interface ParkInput {
  readonly reason: ParkReason;
  readonly detail: string;
}

/** Any live state -> `parked(reason)`. The fence rises: whoever held the lease has lost it. */
export function park(task: Task, input: ParkInput, act: Act): Transition {
  if (!isLive(task)) return refuse('wrong_state', `the task is ${task.state}`);
  const event = { event: 'parked', by: nameOf(act), detail: `${input.reason}: ${input.detail}` } as const;
  return toParked(outOfHands(task, act, `parked: ${input.reason}`), act, event, input.reason, input.detail);
}

export interface ResumeInput {
  readonly answer?: string | undefined;
  /** The criteria as they are now, where they were read again. */
  readonly criteria?: readonly Criterion[] | undefined;
  /** The hash of the body that the resuming person approves; needed after `edited_after_approval`. */
  readonly approvedBodyHash?: string | undefined;
}

/** `parked` -> `queued`, with all its runs again. Without a person (`act.actor`) there is no answer to keep. */
export function resume(task: Task, input: ResumeInput, act: Act): Transition {
  if (task.state !== 'parked') return refuse('wrong_state', `the task is ${task.state}, not parked`);
  const { actor, nowMs } = act;
  const answered =
    actor === undefined || input.answer === undefined || input.answer.trim() === ''
      ? task.answers
      : [...task.answers, { by: actor, text: input.answer.slice(0, 10_000), atMs: nowMs }];
  const sequence = task.noteSequence + 1;
  const from: Task = {
    ...task,
    runsUsed: 0,
    answers: answered.slice(-keptEntries),
    noteSequence: sequence,
    ...(input.criteria === undefined ? {} : { criteria: [...input.criteria] }),
    ...(input.approvedBodyHash === undefined ? {} : { approvedBodyHash: input.approvedBodyHash }),
  };
  const queued = toQueue(from, nowMs, 0);
  const note = { kind: 'note', state: 'resumed', sequence, task: queued, atMs: nowMs } as const;
  return {
    task: queued,
    effects: [actor === undefined ? note : { ...note, actor }],
    event: { event: 'resumed', by: nameOf(act), detail: `was parked: ${task.reason ?? 'unknown'}` },
  };
}

/**
 * `queued` and waiting -> may start now; `parked(runs_exhausted)` -> `queued`, with all its runs again. Neither is a
 * person's word on anything else a task may wait for: that takes a resume.
 */
export function retry(task: Task, act: Act): Transition {
  if (task.state === 'parked' && task.reason === 'runs_exhausted') return resume(task, {}, act);
  if (task.state === 'parked')
    return refuse('wrong_state', `it is parked for ${task.reason ?? 'a person'}: resume it`);
  if (task.state !== 'queued') return refuse('wrong_state', `the task is ${task.state}`);
  if (task.notBeforeMs <= act.nowMs) return refuse('wrong_state', 'the task is queued and may start already');
  return {
    task: toQueue(task, act.nowMs, 0),
    effects: [],
    event: { event: 'retried', by: nameOf(act), detail: '' },
  };
}

/** `running` -> `queued`, out of the hands of a worker that may not have it any more; the run does not count. */
export function takeBack(task: Task, why: string, act: Act): Transition {
  if (task.state !== 'running') return refuse('wrong_state', `the task is ${task.state}`);
  const from = outOfHands(task, act, `taken back: ${why}`);
  return {
    task: toQueue({ ...from, runsUsed: Math.max(task.runsUsed - 1, 0) }, act.nowMs, 0),
    effects: [],
    event: { event: 'taken_back', by: nameOf(act), detail: why },
  };
}

/** Any live state -> `cancelled`, with the cause. The fence rises; there is no note. */
export function cancel(task: Task, reason: string, act: Act): Transition {
  if (!isLive(task)) return refuse('wrong_state', `the task is ${task.state}`);
  const from = outOfHands(task, act, `cancelled: ${reason}`);
  return {
    task: moveTo('cancelled', from, act.nowMs, { reason }),
    effects: [],
    event: { event: 'cancelled', by: nameOf(act), detail: reason },
  };
}

/** Takes the task out of whoever's hands it is in: the fence rises, and a run that it ends is in the history. */
function outOfHands(task: Task, act: Act, why: string): Task {
  const fence = task.fence + 1;
  if (task.lease === undefined) return { ...task, fence };
  const { run, worker } = task.lease;
  const history = withPast(task, { run, worker, outcome: 'ended', detail: why, atMs: act.nowMs });
  return { ...task, fence, history };
}
