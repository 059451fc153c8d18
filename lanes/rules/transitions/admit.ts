/** Admission: an issue becomes a task, queued, or parked at once where there is nothing to work on. */
import type { NewTask, Task } from '../../records/tasks.ts';
import { type Act, type Move, nameOf, toParked, toQueue } from './move.ts';

/** `admitted` -> `queued` | `parked`. */
export function admitted(admission: NewTask, act: Act): Move {
  const { parked, ...rest } = admission;
  const blank: Task = {
    ...rest,
    state: 'queued',
    revision: 0,
    fence: 0,
    run: 0,
    runsUsed: 0,
    wakes: 0,
    noteSequence: 0,
    notBeforeMs: act.nowMs,
    proposals: [],
    answers: [],
    history: [],
    summary: '',
    notices: [],
    createdAtMs: act.nowMs,
    changedAtMs: act.nowMs,
  };
  const by = nameOf(act);
  if (parked === undefined) {
    const event = { event: 'admitted', by, detail: '' } as const;
    return { task: toQueue(blank, act.nowMs, 0), effects: [], event };
  }
  const event = { event: 'admitted', by, detail: `parked: ${parked.reason}` } as const;
  return toParked(blank, act, event, parked.reason, parked.detail);
}
