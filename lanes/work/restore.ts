/** Puts the patch of an earlier run into a new copy, before its agent starts. All of it or nothing. */
import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isLaneError } from '../errors.ts';
import type { Copy } from './copy.ts';
import { onDisk } from './files.ts';
import { git } from './git.ts';

/**
 * Applies a patch file to the copy's files. Git itself refuses paths that leave the copy, that go through a symbolic
 * link, or that lie in `.git`; a patch that it refuses `does_not_apply`. The agent's index stays at the base, so that
 * it sees the earlier work as its own uncommitted changes.
 * Throws LaneError `disk`.
 */
export async function restorePatch(copy: Copy, patchFile: string): Promise<'applied' | 'does_not_apply'> {
  const { capGit, ctl, indexBase, work } = copy.paths;
  const index = join(ctl, 'index.restore');
  await onDisk('cannot restore a patch', () => copyFile(indexBase, index));
  const env = { GIT_DIR: capGit, GIT_WORK_TREE: work, GIT_INDEX_FILE: index };
  try {
    await git({ args: ['apply', '--index', '--binary', '--whitespace=nowarn', patchFile], cwd: work, env });
    return 'applied';
  } catch (error) {
    if (isLaneError(error, 'git_failed')) return 'does_not_apply';
    throw error;
  } finally {
    await rm(index, { force: true });
  }
}
