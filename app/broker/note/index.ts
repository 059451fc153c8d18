/** The agent note: written, signed, read back; and short answers to commands. */

export { type Outcome, renderAnswer } from './answer.ts';
export type { NoteInput } from './input.ts';
export { type NoteKey, noteKey, noteKeys } from './key.ts';
export { type NoteReading, readNote, unreadableNoteTexts } from './read.ts';
export { renderNote } from './render.ts';
