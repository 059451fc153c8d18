/** Reads an issue as a person would, over GitHub's API: its notes, its state, and waits until it is as expected. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Octokit } from '@octokit/rest';

export type NoteState = 'parked' | 'resumed' | 'complete';

export interface SeenNote {
  readonly state: NoteState;
  readonly run: number;
  /** Criterion id -> disposition, or null where it is open. */
  readonly dispositions: ReadonlyMap<string, string | null>;
}

export interface SeenIssue {
  readonly number: number;
  readonly state: string;
  readonly stateReason: string | null;
  readonly notes: readonly SeenNote[];
}

export interface Watched {
  readonly people: Octokit;
  readonly owner: string;
  readonly repo: string;
  /** Reads a comment back as a note of ours whose signature holds; null for anything else. */
  readonly readNote: (body: string) => SeenNote | null;
}

/** A read of the issue and of all its comments. */
export async function look({ people, owner, repo, readNote }: Watched, number: number): Promise<SeenIssue> {
  const { data: issue } = await people.issues.get({ owner, repo, issue_number: number });
  const comments = await people.paginate(people.issues.listComments, { owner, repo, issue_number: number });
  const notes = comments.flatMap(({ body }) => readNote(body ?? '') ?? []);
  return { number, state: issue.state, stateReason: issue.state_reason ?? null, notes };
}

/**
 * Looks again and again until `isThere` holds.
 * @throws Error naming the step, with what was seen last, after `deadlineMs`.
 */
export async function waitFor(
  watched: Watched,
  number: number,
  step: string,
  isThere: (seen: SeenIssue) => boolean,
  deadlineMs = 40_000,
): Promise<SeenIssue> {
  const endMs = Date.now() + deadlineMs;
  for (;;) {
    const seen = await look(watched, number);
    if (isThere(seen)) return seen;
    if (Date.now() > endMs) {
      const notes = seen.notes.map(({ state }) => state).join(', ');
      throw new Error(`#${number}: ${step} did not happen; it is ${seen.state} with notes [${notes}]`);
    }
    await pause(150);
  }
}
