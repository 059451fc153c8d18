/** Notes and answers as text: notes signed with the current key, and told apart with older keys as well. */
import { gate, type Task } from '../../lanes/index.ts';
import { type NoteKey, type Outcome, readNote, renderAnswer, renderNote } from './note/index.ts';
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

/** The text of the comment that answers commands, with what the gate finds open after them. */
export function makeAnswerText(
  secrets: readonly string[],
): (outcomes: readonly Outcome[], task: Task | null) => string {
  return (outcomes, task) => {
    const answer = task === null ? null : gate(task);
    return renderAnswer(outcomes, {
      task,
      open: answer === null || answer.close ? [] : answer.open,
      secrets,
    });
  };
}
