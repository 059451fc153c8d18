/** Puts the work of an earlier capture into a new copy, before its agent starts. */
import { copyFile, lstat, mkdir, realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isLaneError } from '../errors.ts';
import type { Receipt } from '../records/copies.ts';
import { untar } from './capture/archive.ts';
import { copySparse } from './capture/blobs.ts';
import type { Copy } from './copy.ts';
import { onDisk } from './files.ts';
import { git } from './git.ts';
import { archivePath, blobPath } from './outbox.ts';
import type { Workplace } from './workplace.ts';

/**
 * Brings the copy's files to where the patch leads: all of it or nothing. Git itself refuses paths that leave the
 * copy, that go through a symbolic link, or that lie in `.git`; a patch that it refuses `does_not_apply`. The files are
 * written by a checkout, not by `git apply`, which does not see attributes that the same patch brings. The agent's
 * index stays at the base, so that it sees the earlier work as its own uncommitted changes.
 * Throws LaneError `disk`.
 */
export async function restorePatch(copy: Copy, patchFile: string): Promise<'applied' | 'does_not_apply'> {
  const { capGit, ctl, indexBase, work } = copy.paths;
  const { base } = copy.record;
  const [index, target] = [join(ctl, 'index.restore'), join(ctl, 'index.target')];
  await onDisk('cannot restore a patch', () =>
    Promise.all([copyFile(indexBase, index), copyFile(indexBase, target)]),
  );
  const run = (file: string, ...args: string[]) =>
    git({ args, cwd: work, env: { GIT_DIR: capGit, GIT_WORK_TREE: work, GIT_INDEX_FILE: file } });
  try {
    await run(target, 'apply', '--cached', '--binary', '--whitespace=nowarn', patchFile);
    const tree = (await run(target, 'write-tree')).stdout.toString('utf8').trim();
    await run(index, 'read-tree', '-m', '-u', base, tree);
    return 'applied';
  } catch (error) {
    if (isLaneError(error, 'git_failed')) return 'does_not_apply';
    throw error;
  } finally {
    await Promise.all([index, target].map((file) => rm(file, { force: true })));
  }
}

/**
 * Brings what lies beside a patch: large files, files that git's conversions would change, repositories inside the
 * copy. Answers with what could not be brought. The commits and stashes of the earlier copy's own git stay in the
 * outbox: the new copy has a history of its own.
 * Throws LaneError `disk`.
 */
export async function restoreBeside(place: Workplace, copy: Copy, receipt: Receipt): Promise<string[]> {
  const { work } = copy.paths;
  const failed: string[] = [];
  for (const { path, object } of receipt.blobs) {
    const to = join(work, path);
    const ready = (await isFree(work, path)) && (await makeRoom(to));
    if (!ready || !(await copySparse(blobPath(place, receipt.copy, object), to))) failed.push(path);
  }
  for (const { path, kind, sha256 } of receipt.archives) {
    if (kind === 'git_state') continue;
    const file = archivePath(place, receipt.copy, receipt.kind, sha256);
    const brought = (await isFree(work, path)) && (await unpacked(file, work));
    if (!brought) failed.push(path);
  }
  return failed;
}

/** False where the path would leave the copy: by its parts, or through a link that the new base or the patch has. */
async function isFree(work: string, path: string): Promise<boolean> {
  const parts = path.replace(/\/$/, '').split('/');
  if (parts.some((part) => ['', '.', '..'].includes(part)) || parts[0] === '.git') return false;
  // The nearest folder that is there decides; below it everything is made anew.
  for (let depth = parts.length - 1; depth >= 0; depth -= 1) {
    const folder = join(work, ...parts.slice(0, depth));
    if ((await lstat(folder).catch(() => null)) === null) continue;
    return (await realpath(folder)) === folder;
  }
  return false;
}

async function makeRoom(to: string): Promise<boolean> {
  try {
    if ((await lstat(to).catch(() => null))?.isDirectory()) await rm(to, { recursive: true });
    await mkdir(dirname(to), { recursive: true });
    return true;
  } catch {
    return false;
  }
}

async function unpacked(file: string, work: string): Promise<boolean> {
  try {
    await untar(file, work);
    return true;
  } catch (error) {
    if (isLaneError(error, 'capture_failed')) return false;
    throw error;
  }
}
