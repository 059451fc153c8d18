/** The first half of a capture: everything that the copy's files are now, as one git tree. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isLaneError, LaneError } from '../../errors.ts';
import type { Missing } from '../../records/copies.ts';
import type { Copy } from '../copy.ts';
import { saysDisk } from '../files.ts';
import { type CaptureGit, captureGit, nulList, readablePath, startIndex } from './capture-git.ts';
import { type Gitlinks, gitlinksIn, putBack, takeOut } from './gitlinks.ts';

/** A list in a receipt is for people; what is beyond this is still counted as `partial`. */
const MAX_MISSING = 1_000;

/** Turns every conversion off; what is added then is the bytes that lie on the disk. */
const RAW_ATTRIBUTES = '* -text -eol -ident -working-tree-encoding -filter\n';

export interface TakenTree {
  git: CaptureGit;
  tree: string;
  /** Entries that ignore rules keep out of the patch; a folder that is ignored as a whole counts once. */
  ignored: number;
  missing: Missing[];
  rawAttributes: boolean;
}

/** Throws LaneError `git_failed` or `disk`. */
export async function takeTree(copy: Copy): Promise<TakenTree> {
  const git = captureGit(copy, 'index.capture');
  await rm(attributesFile(copy), { force: true });
  let rawAttributes = false;
  let added: Added;
  try {
    added = await addAll(git);
  } catch (error) {
    if (!isLaneError(error, 'git_failed')) throw error;
    // An encoding that .gitattributes names and a file does not have stops `git add` as a whole.
    await mkdir(join(copy.paths.capGit, 'info'), { recursive: true });
    await writeFile(attributesFile(copy), RAW_ATTRIBUTES);
    rawAttributes = true;
    added = await addAll(git);
  }
  const missing = await leftBehind(git, added.warnings);
  const ignored = await git.run([
    'ls-files',
    '-z',
    '--others',
    '--ignored',
    '--exclude-standard',
    '--directory',
  ]);
  await putBack(git, added.baseGitlinks);
  const tree = await git.text(['write-tree']);
  return { git, tree, ignored: nulList(ignored.stdout).length, missing, rawAttributes };
}

/** The agent removed its checkout: nothing is known of its work, so the patch changes nothing and says so. */
export async function treeOfRemovedCopy(copy: Copy): Promise<TakenTree> {
  const git = captureGit(copy, 'index.capture', copy.paths.ctl);
  await startIndex(git, null);
  await git.run(['read-tree', copy.record.base]);
  const tree = await git.text(['write-tree']);
  return { git, tree, ignored: 0, missing: [{ path: '.', why: 'copy_removed' }], rawAttributes: false };
}

function attributesFile(copy: Copy): string {
  return join(copy.paths.capGit, 'info', 'attributes');
}

interface Added {
  baseGitlinks: Gitlinks;
  warnings: string;
}

/**
 * Adds all files to a copy of the base index. Gitlinks go first and afterwards: `git add` runs status inside a
 * submodule, under the agent's configuration, whose filter would run as us.
 */
async function addAll(git: CaptureGit): Promise<Added> {
  await startIndex(git, git.copy.paths.indexBase);
  const baseGitlinks = await gitlinksIn(git);
  await takeOut(git, baseGitlinks);
  const added = await git.run(['add', '-A', '--ignore-errors', '--', '.'], { okCodes: [0, 1] });
  if (added.code !== 0 && saysDisk(added.stderr))
    throw new LaneError('disk', 'git add', { cause: added.stderr });
  await takeOut(git, await gitlinksIn(git));
  return { baseGitlinks, warnings: added.stderr };
}

/** What `git add` could not take: changed files that are not in the index, and unknown files that still are unknown. */
async function leftBehind(git: CaptureGit, warnings: string): Promise<Missing[]> {
  const changed = await git.run(['diff-files', '--name-only', '-z', '--ignore-submodules=all']);
  const others = await git.run(['ls-files', '-z', '--others', '--exclude-standard']);
  const missing: Missing[] = [];
  for (const path of nulList(changed.stdout)) missing.push({ path: readablePath(path), why: 'not_readable' });
  for (const path of nulList(others.stdout)) {
    missing.push({
      path: readablePath(path),
      why: path.endsWith('/') ? 'embedded_repository' : 'not_readable',
    });
  }
  // Git cuts its messages at 4 KB: one about a longer path has no end.
  const unopened = /could not open directory '(.*?)(?:\/?':|$)/gm;
  for (const [, path] of `${warnings}\n${others.stderr}`.matchAll(unopened)) {
    missing.push({ path: path ?? '.', why: 'not_readable' });
  }
  return missing.slice(0, MAX_MISSING);
}
