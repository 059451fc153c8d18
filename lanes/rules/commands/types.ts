/** Commands, and what can be decided about them. */
import type { Disposition, Dispositions, WeighedEvidence } from '../../records/dispositions.ts';
import type { TaskState } from '../../records/tasks.ts';
import type { Verb } from '../help.ts';

/** What a person names as evidence. Nothing of it has been looked at. */
export type NamedEvidence = WeighedEvidence['evidence'];

export type Command =
  | { readonly verb: 'status' }
  | { readonly verb: 'help' }
  | { readonly verb: 'cancel' }
  | { readonly verb: 'accept' }
  | { readonly verb: 'park'; readonly why: string }
  | { readonly verb: 'resume'; readonly answer?: string }
  | { readonly verb: 'met'; readonly id: string; readonly evidence: readonly NamedEvidence[] }
  | { readonly verb: 'waive' | 'na' | 'withdraw'; readonly id: string; readonly why: string }
  | { readonly verb: 'moved'; readonly id: string; readonly issue: number; readonly why?: string }
  | { readonly verb: 'superseded'; readonly id: string; readonly by: string; readonly why?: string }
  | { readonly verb: 'open'; readonly id: string };

/**
 * Why a line that begins with `/lane` is no command. `too_many`: after the twentieth of a comment. `unreadable`: the
 * comment is too long or too deeply nested to be taken apart.
 */
export type CommandProblem =
  | 'unknown_verb'
  | 'missing_id'
  | 'missing_reason'
  | 'missing_evidence'
  | 'missing_issue'
  | 'missing_by'
  | 'unexpected_words'
  | 'too_long'
  | 'too_many'
  | 'unreadable';

export type ParsedCommand =
  | { readonly ok: true; readonly line: string; readonly command: Command }
  | {
      readonly ok: false;
      readonly line: string;
      readonly problem: CommandProblem;
      /** The verb that was written, or the one that was probably meant. */
      readonly verb?: Verb;
    };

/** An issue that the App has to look at before the plan may be carried out. */
export interface IssueCheck {
  readonly criterion: string;
  readonly issue: number;
  /** `moved` needs an open issue; for `superseded` it only has to exist. */
  readonly mustBeOpen: boolean;
}

/** An answer that changes nothing. */
export type CommandAnswer =
  | { readonly code: 'help' | 'already_held' | 'nothing_to_accept' }
  /** `last`: the latest decision about this issue, in a sentence. */
  | { readonly code: 'status' | 'no_task'; readonly last?: string }
  | { readonly code: 'ended' | 'not_parked'; readonly state: TaskState }
  | { readonly code: 'unknown_id'; readonly id: string; readonly near: readonly string[] }
  | { readonly code: 'ambiguous_label'; readonly id: string; readonly ids: readonly string[] }
  | { readonly code: 'already_open' | 'same_issue' | 'same_criterion'; readonly id: string };

/** What to do about a command. */
export type Plan =
  | { readonly kind: 'resume'; readonly answer?: string }
  | { readonly kind: 'park'; readonly why: string }
  | { readonly kind: 'cancel' }
  /** Set these verdicts, once what `checks` name was found. */
  | { readonly kind: 'dispose'; readonly dispositions: Dispositions; readonly checks: readonly IssueCheck[] }
  | { readonly kind: 'open'; readonly id: string }
  /** Set these verdicts and keep `left` as proposals: those that do not fit any more or lack what they need. */
  | {
      readonly kind: 'accept';
      readonly dispositions: Dispositions;
      readonly left: readonly Disposition[];
      readonly checks: readonly IssueCheck[];
    }
  | ({ readonly kind: 'answer' } & CommandAnswer);
