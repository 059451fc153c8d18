/** Git as capture uses it: a private git directory and index over the copy's files, never the agent's `.git`. */
import { copyFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Copy } from '../copy.ts';
import { type GitOutput, type GitRun, git, gitInTurn } from '../git.ts';

type More = Pick<GitRun, 'input' | 'stdoutFd' | 'okCodes'> & {
  /** Let path arguments use git's magic words, such as `exclude`. Otherwise each is taken as it stands. */
  magic?: boolean;
};

export interface CaptureGit {
  readonly copy: Copy;
  readonly index: string;
  run(args: readonly string[], more?: More): Promise<GitOutput>;
  text(args: readonly string[], more?: More): Promise<string>;
  /** As `gitInTurn`. */
  inTurn(commands: readonly (readonly string[])[], more?: More): Promise<GitOutput>;
}

/** Makes the index start from another one, or from nothing. What a dead capture left, its lock too, goes. */
export async function startIndex(git: CaptureGit, from: string | null): Promise<void> {
  await rm(`${git.index}.lock`, { force: true });
  await rm(git.index, { force: true });
  if (from === null) return;
  await copyFile(from, git.index);
  // Git compares contents, not only times and sizes, of files that are as young as their index. A copy with a time of
  // its own would switch that off, and a change made in the second of the checkout would be lost.
  const seconds = Math.floor((await stat(from)).mtimeMs / 1_000);
  await utimes(git.index, seconds, seconds);
}

/** `indexName` is a file in the copy's `ctl` folder; one that is not there is an empty index. */
export function captureGit(
  copy: Copy,
  indexName: string,
  cwd: string = copy.paths.work,
  signal?: AbortSignal,
): CaptureGit {
  const index = join(copy.paths.ctl, indexName);
  const env = { GIT_DIR: copy.paths.capGit, GIT_WORK_TREE: cwd, GIT_INDEX_FILE: index };
  const how = ({ magic, ...more }: More = {}) => ({
    ...{ ...more, cwd, env: magic ? { ...env, GIT_LITERAL_PATHSPECS: '0' } : env },
    ...(signal ? { signal } : {}),
  });
  const run: CaptureGit['run'] = (args, more) => git({ args, ...how(more) });
  const text: CaptureGit['text'] = async (args, more) =>
    (await run(args, more)).stdout.toString('utf8').trim();
  const inTurn: CaptureGit['inTurn'] = (commands, more) => gitInTurn(commands, how(more));
  return { copy, index, run, text, inTurn };
}
