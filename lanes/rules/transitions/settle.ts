/** Settle: what the fresh look at a closing issue found. */
import type { Task } from '../../records/tasks.ts';
import { gate } from '../gate.ts';
import { type AmendInput, withAmendments } from './amend.ts';
import { type Act, moveTo, nameOf, refuse, type Transition, toParked } from './move.ts';
import { describeOpen } from './run.ts';

export type SettleInput = (
  | { readonly to: 'complete' }
  | { readonly to: 'parked'; readonly reason: 'criteria_changed'; readonly detail: string }
) &
  Pick<AmendInput, 'criteria' | 'dispositions'>;

/**
 * `closing` -> `complete` | `parked(criteria_changed)`, with the criteria and verdicts of the fresh look where given.
 * Complete is refused where the record's own gate does not close: somebody opened a criterion meanwhile.
 */
export function settle(task: Task, input: SettleInput, act: Act): Transition {
  if (task.state !== 'closing') return refuse('wrong_state', `the task is ${task.state}, not closing`);
  const seen = withAmendments(task, input);
  if (input.to === 'parked') {
    const event = { event: 'parked', by: nameOf(act), detail: `${input.reason}: ${input.detail}` } as const;
    return toParked({ ...seen, fence: task.fence + 1 }, act, event, input.reason, input.detail);
  }
  const answer = gate(seen);
  if (!answer.close) return refuse('task_conflict', `the gate is open again: ${describeOpen(answer)}`);
  return {
    task: moveTo('complete', seen, act.nowMs, {}),
    effects: [],
    event: { event: 'complete', by: nameOf(act), detail: answer.stateReason },
  };
}
