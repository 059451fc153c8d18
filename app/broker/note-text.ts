/** Notes as the broker uses them: rendered and signed with the current key, told apart with older keys as well. */
import { type NoteKey, readNote, renderNote } from './note/index.ts';
import type { NoteText } from './port.ts';

export interface NoteTextOptions {
  readonly key: NoteKey;
  /** Keys that were used before and still count. */
  readonly olderKeys: readonly NoteKey[];
  /** Exact words that must never appear in a note. */
  readonly secrets: readonly string[];
}

export function makeNoteText({ key, olderKeys, secrets }: NoteTextOptions): NoteText {
  const keys = [key, ...olderKeys];
  return {
    render: (input) => renderNote(input, { key, secrets }),
    isNote(body, task, sequence) {
      const reading = readNote(body, keys);
      return reading.ok && reading.note.task === task && reading.note.sequence === sequence;
    },
  };
}
