/** Amend: what is known of a live task changes - criteria after an edit, verdicts by people, proposals accepted. */
import type { Criterion } from '../../records/criteria.ts';
import type { Disposition, Dispositions } from '../../records/dispositions.ts';
import type { Task } from '../../records/tasks.ts';
import { gate } from '../gate.ts';
import { type Act, isLive, nameOf, next, refuse, type Transition, toClosing } from './move.ts';

export interface AmendInput {
  /** All of the criteria, removed ones too; replaces the list. */
  readonly criteria?: readonly Criterion[] | undefined;
  /** Verdicts to set by criterion id; null takes one away, so that the criterion is open again. */
  readonly dispositions?: Readonly<Record<string, Disposition | null>> | undefined;
  /** Replaces the agent's proposals. */
  readonly proposals?: readonly Disposition[] | undefined;
}

/** Parked for one of these, a task waits for a person's `resume`, whatever its criteria say. */
const waitsForPerson: ReadonlySet<string> = new Set(['held', 'edited_after_approval']);

/** Any live state stays as it is; `parked` -> `closing` once the verdicts satisfy the gate. */
export function amend(task: Task, input: AmendInput, act: Act): Transition {
  if (!isLive(task)) return refuse('wrong_state', `the task is ${task.state}`);
  const amended = withAmendments(task, input);
  const detail = (['criteria', 'dispositions', 'proposals'] as const)
    .filter((part) => input[part] !== undefined)
    .join(', ');
  const mayClose = task.state === 'parked' && !waitsForPerson.has(task.reason ?? 'held');
  if (mayClose && gate(amended).close)
    return toClosing(amended, act, { event: 'closing', by: nameOf(act), detail });
  const event = { event: 'amended', by: nameOf(act), detail } as const;
  return { task: next(amended, act.nowMs, {}), effects: [], event };
}

/** The task with the amendments in place. */
export function withAmendments(task: Task, input: AmendInput): Task {
  const dispositions: Dispositions = { ...task.dispositions };
  for (const [id, verdict] of Object.entries(input.dispositions ?? {})) {
    if (verdict === null) delete dispositions[id];
    else dispositions[id] = verdict;
  }
  return {
    ...task,
    dispositions,
    ...(input.criteria === undefined ? {} : { criteria: [...input.criteria] }),
    ...(input.proposals === undefined ? {} : { proposals: [...input.proposals] }),
  };
}
