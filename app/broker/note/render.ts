/** A note, from the task as it was at the transition to the text of the comment. */

import { cut } from './cut.ts';
import type { NoteInput } from './input.ts';
import type { NoteKey } from './key.ts';
import { limitLevels } from './limits.ts';
import { renderTemplate } from './liquid.ts';
import { machineBlock } from './machine.ts';
import { redactAll } from './redact.ts';
import { noteView } from './view.ts';

/** GitHub takes 65,536; the rest is room for what people add. */
export const maxNoteChars = 60_000;

/**
 * The Markdown of a note: the signed machine block, then the words for people, at most `maxNoteChars` long. Secrets are
 * redacted before anything is encoded; `secrets` are exact words of ours. What does not fit is cut in the details
 * first, and the note says so; the block is never cut.
 */
export function renderNote(
  input: NoteInput,
  options: { readonly key: NoteKey; readonly secrets: readonly string[] },
): string {
  const clean = redactAll(input, options.secrets);
  const block = machineBlock(clean, options.key);
  const room = maxNoteChars - block.length - 2;
  return `${block}\n\n${wordsThatFit(clean, room)}`;
}

function wordsThatFit(input: NoteInput, room: number): string {
  let words = '';
  for (const [level, limits] of limitLevels.entries()) {
    words = renderTemplate('note', noteView(input, limits, level > 0));
    if (words.length <= room) return words;
  }
  return cut(words, room);
}
