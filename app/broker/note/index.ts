/** The agent note: written, signed, read back; and short answers to commands. */

export { type AnswerFacts, type Outcome, renderAnswer } from './answer.ts';
export type { NoteInput } from './input.ts';
export { type NoteKey, noteKey } from './key.ts';
export { neutralise } from './neutralise.ts';
export { type ExpectedNote, type NoteReading, readNote, unreadableNoteTexts } from './read.ts';
export { redact } from './redact.ts';
export { maxNoteChars, renderNote } from './render.ts';
