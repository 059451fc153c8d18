/**
 * What an edit of an issue's body does to its task. Criteria are always read again, whoever edited: that can only open
 * something. Going on, attesting and approving the new body need a permitted person.
 */
import type { TaskState } from '../../records/tasks.ts';
import { liftedByEdit, type ReadingVerdict } from './reading.ts';
import type { IntakeReason } from './reasons.ts';

export interface EditInput {
  readonly state: TaskState;
  /** Why it is parked. */
  readonly reason: string | undefined;
  /** Whether the editor is a permitted person. */
  readonly permitted: boolean;
  /** What was read out of the body as it is now. */
  readonly verdict: ReadingVerdict;
  /** Whether the body is still the one that this edit made. */
  readonly newest: boolean;
  /** Whether the body before this edit was an approved one. */
  readonly fromApproved: boolean;
}

export interface EditDecision {
  /** What happens beyond taking over the criteria as they are now. */
  readonly act: 'amend' | 'resume' | 'keep';
  /** Whether the body that this edit made counts as approved from now on. */
  readonly approves: boolean;
  readonly reason: IntakeReason;
}

/**
 * Decides. An edit approves the whole body only on top of an approved one: else a harmless edit by a permitted person
 * would approve what a stranger wrote before. Parked for missing criteria, the permitted person who edits is the one
 * that the task waits for, and looks at the whole.
 */
export function decideEdit(input: EditInput): EditDecision {
  const unreadable = input.verdict.kind === 'park' && input.verdict.reason === 'unreadable_body';
  const lifts = input.state === 'parked' && liftedByEdit.has(input.reason ?? '');
  if (!lifts) {
    if (unreadable) return { act: 'keep', approves: false, reason: 'unreadable_body' };
    if (!input.permitted) return { act: 'amend', approves: false, reason: 'amended_unapproved' };
    return { act: 'amend', approves: input.fromApproved, reason: 'amended' };
  }
  if (unreadable) return { act: 'keep', approves: false, reason: 'still_parked' };
  if (input.verdict.kind === 'park') return { act: 'amend', approves: false, reason: 'still_parked' };
  if (!input.permitted) return { act: 'amend', approves: false, reason: 'amended_unapproved' };
  if (!input.newest) return { act: 'amend', approves: false, reason: 'edited_again' };
  return { act: 'resume', approves: true, reason: 'criteria_added' };
}
