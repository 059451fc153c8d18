/** Admission: an issue becomes a task, queued, or parked at once where there is nothing to work on. */
import type { NewTask, Task } from '../../records/tasks.ts';
import { type Act, type Move, nameOf, toParked, toQueue } from './move.ts';

/** `admitted` -> `queued` | `parked`. */
export function admitted(admission: NewTask, act: Act): Move {
  const blank = toTask(admission, act.nowMs);
  const { parked } = admission;
  const by = nameOf(act);
  if (parked === undefined) {
    const event = { event: 'admitted', by, detail: '' } as const;
    return { task: toQueue(blank, act.nowMs, 0), effects: [], event };
  }
  const event = { event: 'admitted', by, detail: `parked: ${parked.reason}` } as const;
  return toParked(blank, act, event, parked.reason, parked.detail);
}

/** Names every property in one go, those too that are not there yet: V8 copies such objects many times as fast. */
function toTask(admission: NewTask, nowMs: number): Task {
  return {
    id: admission.id,
    namespace: admission.namespace,
    lane: admission.lane,
    issue: admission.issue,
    title: admission.title,
    approvedBy: admission.approvedBy,
    approvedBodyHash: admission.approvedBodyHash,
    criteria: admission.criteria,
    dispositions: admission.dispositions,
    proof: admission.proof,
    maxRuns: admission.maxRuns,
    state: 'queued',
    revision: 0,
    fence: 0,
    run: 0,
    runsUsed: 0,
    wakes: 0,
    noteSequence: 0,
    reason: undefined,
    detail: undefined,
    notBeforeMs: nowMs,
    lease: undefined,
    claimedBy: undefined,
    progress: undefined,
    proposals: [],
    answers: [],
    history: [],
    summary: '',
    question: undefined,
    notices: [],
    patch: undefined,
    createdAtMs: nowMs,
    changedAtMs: nowMs,
  } satisfies { [K in keyof Required<Task>]: Task[K] | undefined } as Task;
}
