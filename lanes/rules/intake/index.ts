/**
 * Intake: whether a label that was set on an issue makes a task. Pure. `screen` decides from what the event alone
 * tells, before anything is asked of GitHub; `intake` decides on a fresh look. Both fail closed: what is not allowed
 * is refused or ignored, with a reason that a person can look up.
 */
import type { ParkReason } from '../../records/tasks.ts';
import { type BodyReading, judgeReading } from './reading.ts';
import type { IntakeReason } from './reasons.ts';

/** Who set the label. */
export interface Sender {
  readonly login: string;
  readonly bot: boolean;
  /** This App itself. */
  readonly ours: boolean;
}

/** What of a lane intake looks at. */
export interface IntakeLane {
  readonly name: string;
  readonly allowBots: readonly string[];
  readonly onNoCriteria: 'park' | 'run';
}

export interface ScreenInput {
  readonly sender: Sender;
  /** The lane of the label as the operator has it, or null. */
  readonly lane: IntakeLane | null;
  readonly pullRequest: boolean;
  readonly repository: { readonly listed: boolean; readonly archived: boolean };
}

export interface IntakeInput extends ScreenInput {
  /** Whether the sender has triage permission now. An allowed bot needs none: the operator vouches for it. */
  readonly permitted: boolean;
  /** The lane as the repository's file narrows it; null where it is off, `unknown` where the file is unreadable. */
  readonly narrowed: IntakeLane | null | 'unknown';
  /** The issue as it is now. */
  readonly issue: {
    readonly open: boolean;
    readonly locked: boolean;
    readonly pullRequest: boolean;
    readonly labelSet: boolean;
  };
  /** Whether the label was set while the issue was open, and the lane has been decided about since. */
  readonly toldLate?: boolean;
  /** The lane of the task that is live for this issue, or null. */
  readonly live: string | null;
  readonly reading: BodyReading;
}

export type Ignore = { readonly kind: 'ignore'; readonly reason: IntakeReason };
export type Refuse = { readonly kind: 'refuse'; readonly reason: IntakeReason };
export type Intake =
  | { readonly kind: 'admit'; readonly reason: IntakeReason }
  | { readonly kind: 'park'; readonly reason: ParkReason; readonly detail: string }
  | Ignore
  | Refuse;

const ignore = (reason: IntakeReason): Ignore => ({ kind: 'ignore', reason });
const refuse = (reason: IntakeReason): Refuse => ({ kind: 'refuse', reason });

/** Whether an event by this sender counts: never our own, and a bot's only where the lane allows that bot. */
export function senderCounts(sender: Sender, allowBots: readonly string[]): boolean {
  if (sender.ours) return false;
  return !sender.bot || allowBots.some((login) => sameLogin(login, sender.login));
}

/** Logins do not differ by case; operators may leave out `[bot]`. */
function sameLogin(allowed: string, login: string): boolean {
  const bare = (text: string): string => text.toLowerCase().replace(/\[bot\]$/, '');
  return bare(allowed) === bare(login);
}

/** What can be decided from the event alone, or null where a fresh look is needed. */
export function screen(input: ScreenInput): Ignore | Refuse | null {
  if (input.lane === null) return ignore('not_a_lane');
  if (input.sender.ours) return ignore('own_event');
  if (!senderCounts(input.sender, input.lane.allowBots)) return ignore('bot');
  if (input.pullRequest) return ignore('pull_request');
  if (!input.repository.listed) return ignore('repository_not_listed');
  if (input.repository.archived) return refuse('not_writable');
  return null;
}

/** Decides about a label that was set, on a fresh look at issue, people and repository. */
export function intake(input: IntakeInput): Intake {
  const screened = screen(input);
  if (screened) return screened;
  const lane = input.narrowed;
  if (input.issue.pullRequest) return ignore('pull_request');
  if (lane === null) return ignore('lane_off');
  if (!input.issue.labelSet) return ignore('label_not_set');
  if (!input.permitted && !input.sender.bot) return refuse('not_permitted');
  if (lane === 'unknown') return refuse('repository_file_broken');
  if (!input.issue.open) return input.toldLate ? ignore('duplicate') : refuse('issue_closed');
  if (input.issue.locked) return refuse('issue_locked');
  if (input.live !== null) return input.live === lane.name ? ignore('duplicate') : refuse('issue_busy');
  const verdict = judgeReading(input.reading, lane.onNoCriteria);
  if (verdict.kind === 'park') return verdict;
  return { kind: 'admit', reason: 'admitted' };
}
