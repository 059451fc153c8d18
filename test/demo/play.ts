/** Plays one story on the stage and compares what happened with what it promises. */
import { isDeepStrictEqual } from 'node:util';
import type { Narrator } from './narrator.ts';
import { missingCriteria, type Story } from './stories.ts';
import { type SeenIssue, type Watched, waitFor } from './watch.ts';

/** What became of an issue; `state` and `stateReason` are GitHub's. */
export interface PlayedIssue {
  readonly number: number;
  readonly lane: string;
  readonly state: string;
  readonly stateReason: string | null;
  readonly notes: readonly string[];
  readonly runs: number;
  readonly dispositions: Readonly<Record<string, number>>;
}

const lane = 'fix';

/**
 * Opens and labels the issue, acts for the person where the story says so, and waits for the end. `labelled` is called
 * when the wait begins.
 */
export async function play(
  watched: Watched,
  story: Story,
  narrator: Narrator,
  labelled?: () => void,
): Promise<PlayedIssue> {
  const { people, owner, repo } = watched;
  const { data: opened } = await people.issues.create({ owner, repo, title: story.title, body: story.body });
  const { number } = opened;
  narrator.heading(`#${number} ${story.title}`);
  narrator.say('', story.about);
  await people.issues.addLabels({ owner, repo, issue_number: number, labels: [`lane:${lane}`] });
  narrator.say('maria', `opens #${number} and sets the label lane:${lane}`);
  labelled?.();
  if (story.whenParked !== undefined) await unpark(watched, story, number, narrator);
  const seen = await waitFor(watched, number, 'closing with a complete note', isComplete);
  narrator.say('lanekeeper', `posts the complete note and closes #${number} as ${seen.stateReason}`);
  return compare(story, summarise(seen));
}

function isComplete({ state, notes }: SeenIssue): boolean {
  return state === 'closed' && notes.at(-1)?.state === 'complete';
}

async function unpark(watched: Watched, story: Story, number: number, narrator: Narrator): Promise<void> {
  const { people, owner, repo } = watched;
  const parked = await waitFor(watched, number, 'parking', ({ notes }) => notes.at(-1)?.state === 'parked');
  narrator.say('lanekeeper', `posts a parked note: the issue stays ${parked.state}`);
  if (story.whenParked === 'add the criteria') {
    await people.issues.update({ owner, repo, issue_number: number, body: story.body + missingCriteria });
    narrator.say('maria', 'adds acceptance criteria to the body');
    await waitFor(watched, number, 'resuming', ({ notes }) => notes.some(({ state }) => state === 'resumed'));
    narrator.say('lanekeeper', 'posts a resumed note and works');
    return;
  }
  const dispositions = [...(parked.notes.at(-1)?.dispositions ?? [])];
  for (const [id] of dispositions.filter(([, kind]) => kind === null)) {
    const body = `/lane waive ${id} Our suppliers never do that.`;
    await people.issues.createComment({ owner, repo, issue_number: number, body });
    narrator.say('maria', `comments "${body}"`);
  }
}

function summarise({ number, state, stateReason, notes }: SeenIssue): PlayedIssue {
  const dispositions: Record<string, number> = {};
  for (const kind of notes.at(-1)?.dispositions.values() ?? []) {
    if (kind !== null) dispositions[kind] = (dispositions[kind] ?? 0) + 1;
  }
  const runs = Math.max(0, ...notes.map(({ run }) => run));
  return { number, lane, state, stateReason, notes: notes.map((note) => note.state), runs, dispositions };
}

function compare(story: Story, played: PlayedIssue): PlayedIssue {
  const expected = {
    stateReason: 'completed',
    notes: story.notes,
    runs: 1,
    dispositions: story.dispositions,
  };
  for (const [field, value] of Object.entries(expected)) {
    const actual = played[field as keyof typeof expected];
    if (isDeepStrictEqual(actual, value)) continue;
    throw new Error(
      `#${played.number}: ${field} should be ${JSON.stringify(value)}, and is ${JSON.stringify(actual)}`,
    );
  }
  return played;
}
