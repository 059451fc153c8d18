/** Adding the copy's files to the index. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isLaneError, LaneError } from '../../errors.ts';
import type { Copy } from '../copy.ts';
import { saysDisk } from '../files.ts';
import { type CaptureGit, startIndex } from './capture-git.ts';
import { takeOut } from './gitlinks.ts';
import type { IndexFile } from './index-file.ts';
import type { NotableFile } from './look.ts';
import { nulInput } from './paths.ts';

/** Turns every conversion off; what is added then is the bytes that lie on the disk. */
const RAW_ATTRIBUTES = '* -text -eol -ident -working-tree-encoding -filter\n';

/** Attributes that outdo those of the copy's own files. */
export function attributesFile(copy: Copy): string {
  return join(copy.paths.capGit, 'info', 'attributes');
}

interface Added {
  /** What git said of files that it could not take. */
  readonly warnings: string;
  /** What the commands after it printed. */
  readonly stdout: Buffer;
}

/**
 * Adds everything but what is too large, then runs `next`. An encoding that .gitattributes names and a file does not have
 * stops it: then files are added as they are. Throws LaneError `git_failed` or `disk`, or the signal's reason.
 */
export async function addAll(
  git: CaptureGit,
  base: IndexFile,
  large: readonly NotableFile[],
  next: readonly (readonly string[])[],
): Promise<Added & { rawAttributes: boolean }> {
  try {
    return { ...(await add(git, large, next)), rawAttributes: false };
  } catch (error) {
    if (!isLaneError(error, 'git_failed')) throw error;
  }
  await mkdir(join(git.copy.paths.capGit, 'info'), { recursive: true });
  await writeFile(attributesFile(git.copy), RAW_ATTRIBUTES);
  await startIndex(git, git.copy.paths.indexBase);
  await takeOut(git, base.gitlinks);
  return { ...(await add(git, large, next)), rawAttributes: true };
}

async function add(
  git: CaptureGit,
  large: readonly NotableFile[],
  next: readonly (readonly string[])[],
): Promise<Added> {
  const all = ['add', '-A', '--ignore-errors'];
  const left = large.map(({ path }) => `:(top,exclude,literal)${path}`);
  const fromInput = ['--pathspec-from-file=-', '--pathspec-file-nul'];
  const [paths, more] =
    left.length === 0 ? [['--', '.'], {}] : [fromInput, { input: nulInput(['.', ...left]), magic: true }];
  const { code, stdout, stderr } = await git.inTurn([[...all, ...paths], ...next], {
    ...more,
    okCodes: [0, 1],
  });
  if (code !== 0 && saysDisk(stderr)) throw new LaneError('disk', 'git add', { cause: stderr });
  return { warnings: stderr, stdout };
}
