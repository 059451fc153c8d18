/** Notes and answers as text: notes signed with the current key, and told apart with older keys as well. */
import { gate, LaneError, type Task } from '../../lanes/index.ts';
import { type NoteKey, type Outcome, readNote, renderAnswer, renderNote } from './note/index.ts';
import type { NoteText } from './port.ts';

export interface NoteTextOptions {
  /** The key that signs, then those that were used before and still count. */
  readonly keys: readonly NoteKey[];
  /** Exact words that must never appear in a note. */
  readonly secrets: readonly string[];
}

/** @throws LaneError `invalid_config` where there is no key. */
export function makeNoteText({ keys, secrets }: NoteTextOptions): NoteText {
  const [key] = keys;
  if (key === undefined) throw new LaneError('invalid_config', 'there is no key to sign notes with');
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
