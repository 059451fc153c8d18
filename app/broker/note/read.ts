/** Reading a note back: is it one of ours, whole, and about this issue? */
import type { Note } from '../../../lanes/index.ts';
import { openBlock, type UnreadableNote } from './block.ts';
import type { NoteKey } from './key.ts';

/** What a note must be about. A genuine block copied to another issue has a good signature, so this is asked apart. */
export interface ExpectedNote {
  readonly appId: number;
  readonly repositoryId: number;
  readonly number: number;
}

export type NoteReading = { ok: true; note: Note } | { ok: false; why: UnreadableNote | 'other_issue' };

/** What each refusal means, for a person. */
export const unreadableNoteTexts: Record<UnreadableNote | 'other_issue', string> = {
  too_long: 'The text is longer than a GitHub comment can be.',
  no_block: 'The first line is not the hidden block of an agent note.',
  unknown_version: 'The block has a version that this Lanekeeper does not know.',
  damaged: 'The block is cut off or was changed: it does not have its two parts.',
  bad_signature: 'The signature does not hold: the block was changed, or was signed with another key.',
  invalid_content: 'The signature holds, but the content is not a note of version 1.',
  other_issue: 'The note is genuine, but it is about another App, repository or issue.',
};

/**
 * Reads the machine block of a comment. `keys` are the current key and older ones that still count; `expected` binds
 * the note to an App and an issue. Who wrote the comment cannot be seen here: the caller asks GitHub. Never throws.
 */
export function readNote(body: string, keys: readonly NoteKey[], expected?: ExpectedNote): NoteReading {
  const opened = openBlock(body, keys);
  if (!opened.ok || expected === undefined) return opened;
  const { app, issue } = opened.note;
  const same =
    app.id === expected.appId &&
    issue.repositoryId === expected.repositoryId &&
    issue.number === expected.number;
  return same ? opened : { ok: false, why: 'other_issue' };
}
