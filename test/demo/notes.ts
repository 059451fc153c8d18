/** What the demo reads in a note: only one that is signed, and about this repository, counts. */
import { type NoteKey, readNote } from '../../app/broker/note/index.ts';
import { closingKinds } from '../../lanes/records/dispositions.ts';
import type { Note, NoteDisposition } from '../../lanes/records/notes.ts';
import type { SeenNote } from './watch.ts';

const closing: readonly string[] = closingKinds;

/** A verdict that stands: a person's, or an agent's that the host has verified by a check. */
function stands({ kind, by, evidence = [] }: NoteDisposition): boolean {
  if (!closing.includes(kind)) return false;
  return by.kind === 'person' || evidence.some((one) => one.kind === 'check' && one.standing === 'verified');
}

function seen(note: Note): SeenNote {
  const verdicts = new Map(note.dispositions.filter(stands).map((one) => [one.criterion, one.kind]));
  const dispositions = new Map(note.criteria.map(({ id }) => [id, verdicts.get(id) ?? null]));
  return { state: note.state, run: note.run, dispositions };
}

/** Reads a comment's body; null where it is no note of ours. */
export function noteReader(
  key: NoteKey,
  appId: number,
  repositoryId: number,
): (body: string) => SeenNote | null {
  return (body) => {
    const reading = readNote(body, [key]);
    if (!reading.ok) return null;
    const { app, issue } = reading.note;
    return app.id === appId && issue.repositoryId === repositoryId ? seen(reading.note) : null;
  };
}
