/** Which lane a label belongs to in a repository, by the operator's file and the repository's own. */
import { effectiveLane, githubNamespace, type IssueRef, type Lane, sameLabel } from '../../../lanes/index.ts';
import type { RepositoryRef } from '../../github/api.ts';
import type { FileLook } from '../../github/repository-file.ts';
import type { Desk } from './port.ts';

/** A lane in a repository: as the operator has it, and as the repository narrows it. */
export interface LaneHere {
  readonly lane: Lane;
  /** null: the repository does not use it. `unknown`: the repository's file is unreadable. */
  readonly narrowed: Lane | null | 'unknown';
  readonly instructions: string | undefined;
  readonly proves: Readonly<Record<string, readonly string[]>>;
}

function laneHere(lane: Lane, file: FileLook['file']): LaneHere {
  if (file === 'unknown') return { lane, narrowed: 'unknown', instructions: undefined, proves: {} };
  const effective = effectiveLane(lane, file);
  if (effective === null) return { lane, narrowed: null, instructions: undefined, proves: {} };
  return {
    lane,
    narrowed: effective.lane,
    instructions: effective.instructions,
    proves: effective.proves,
  };
}

/** Every lane of the operator, as this repository uses it. */
export async function lanesHere(desk: Desk, ref: RepositoryRef): Promise<LaneHere[]> {
  const { file } = await desk.github.repositoryFile(ref);
  return desk.lanes.map((lane) => laneHere(lane, file));
}

/** The label of a lane in this repository. */
export function labelOf(here: LaneHere): string {
  return here.narrowed === null || here.narrowed === 'unknown' ? here.lane.label : here.narrowed.label;
}

/** The lane that a label belongs to in this repository, or null. */
export async function laneForLabel(desk: Desk, ref: RepositoryRef, label: string): Promise<LaneHere | null> {
  const all = await lanesHere(desk, ref);
  return all.find((here) => sameLabel(labelOf(here), label)) ?? null;
}

/** Says once on the issue what is wrong with a broken repository file, with line and column. */
export async function sayBrokenFile(desk: Desk, issue: IssueRef): Promise<void> {
  const { broken, file } = await desk.github.repositoryFile(issue);
  if (!broken) return;
  const lines = broken.problems
    .slice(0, 10)
    .map(
      ({ line, column, message }) => `- line ${line}, column ${column}: ${message.replace(/[`@<>]/g, ' ')}`,
    );
  const body = [
    'The file `.github/lanes.yml` on the default branch cannot be used:',
    '',
    ...lines,
    '',
    file === 'unknown'
      ? 'No earlier version of it is known, so no lane works here until it is corrected. Nothing else is needed.'
      : 'The last good version stays in force. Correct the file; nothing else is needed.',
  ].join('\n');
  await desk.engine.loose.add(desk.caller(githubNamespace), {
    kind: 'comment',
    key: `file:${issue.repositoryId}:${broken.version}`,
    issue,
    body,
  });
}
