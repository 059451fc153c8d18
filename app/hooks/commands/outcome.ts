/** What became of one command, for its answer. Plain data: it is put down between two commands. */
import type { CommandAnswer, IssueCheck, ParsedCommand, Plan, Task } from '../../../lanes/index.ts';

export type CommandOutcome =
  /** The line is no command. */
  | { readonly kind: 'not_understood'; readonly parsed: Extract<ParsedCommand, { ok: false }> }
  /** Nothing was changed, and why. */
  | { readonly kind: 'answer'; readonly line: string; readonly answer: CommandAnswer }
  /** The issue that the command names is not there, or not open where it must be. */
  | { readonly kind: 'check_failed'; readonly line: string; readonly check: IssueCheck }
  /** It was carried out. */
  | { readonly kind: 'done'; readonly line: string; readonly plan: Exclude<Plan, { kind: 'answer' }> };

export interface AnswerInput {
  readonly outcomes: readonly CommandOutcome[];
  /** The live task after all commands, or null. */
  readonly task: Task | null;
}
