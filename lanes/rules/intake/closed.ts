/** What a close that was not ours does: a permitted person's is respected, anybody else's is undone once. */
import type { TaskState } from '../../records/tasks.ts';
import type { IntakeReason } from './reasons.ts';

export interface CloseInput {
  /** By this App. */
  readonly ours: boolean;
  /** Whether the issue is open again by now. */
  readonly open: boolean;
  /** The live task's state, or null without one. */
  readonly state: TaskState | null;
  /** Whether a permitted person closed it by hand. */
  readonly byPermittedHand: boolean;
  /** Whether the gate would close. */
  readonly gateCloses: boolean;
  /** The task's close that was undone already, as its time, if any. */
  readonly reopenedFor: string | undefined;
  /** The time of this close. */
  readonly closedAt: string;
}

export type CloseDecision =
  | { readonly kind: 'ignore'; readonly reason: IntakeReason }
  /** The task ends; what was open is written down once. */
  | { readonly kind: 'cancel'; readonly reason: IntakeReason }
  | { readonly kind: 'reopen'; readonly reason: IntakeReason };

/** Decides. A second close by somebody who may not decide ends the task: undoing it for ever would be a fight. */
export function decideClose(input: CloseInput): CloseDecision {
  if (input.ours) return { kind: 'ignore', reason: 'own_event' };
  if (input.state === null) return { kind: 'ignore', reason: 'no_task' };
  if (input.state === 'closing') return { kind: 'ignore', reason: 'closing_anyway' };
  // The same close told twice: its reopening is on the way, or done.
  if (input.reopenedFor !== undefined && input.reopenedFor === input.closedAt) {
    return { kind: 'reopen', reason: 'closed_with_criteria_open' };
  }
  if (input.open) return { kind: 'ignore', reason: 'is_open' };
  if (input.byPermittedHand) return { kind: 'cancel', reason: 'closed_by_person' };
  if (input.gateCloses) return { kind: 'ignore', reason: 'closing_anyway' };
  if (input.reopenedFor !== undefined) return { kind: 'cancel', reason: 'closed_again' };
  return { kind: 'reopen', reason: 'closed_with_criteria_open' };
}
