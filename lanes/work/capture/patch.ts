/** The second half of a capture: the patch from the base to the tree, and the proof that it is complete. */
import { open, rm } from 'node:fs/promises';
import { LaneError } from '../../errors.ts';
import type { Copy } from '../copy.ts';
import type { SyncFile } from '../files.ts';
import type { Point } from '../workplace.ts';
import { type CaptureGit, captureGit, startIndex } from './capture-git.ts';
import { hashFile, type WrittenFile } from './hash.ts';

const DIFF = [
  'diff-tree',
  '-r',
  '-p',
  '--binary',
  '--full-index',
  '--no-ext-diff',
  '--no-textconv',
  '--no-renames',
];

/** Streams the patch into a new file and makes it durable. Memory stays small whatever the patch's size. */
export async function writePatch(
  git: CaptureGit,
  tree: string,
  path: string,
  sync: SyncFile,
  point: Point,
): Promise<WrittenFile> {
  await rm(path, { force: true });
  const file = await open(path, 'wx', 0o600);
  try {
    await git.run([...DIFF, git.copy.record.base, tree], { stdoutFd: file.fd });
    await point('streamed');
    const steps = [hashFile(path), sync(file, path)] as const;
    // Side by side; neither outlives the other's failure.
    await Promise.allSettled(steps);
    const [written] = await Promise.all(steps);
    await point('synced');
    return written;
  } finally {
    await file.close();
  }
}

/**
 * Applies the patch to the base in an index of its own. The checkout's index is the base: where it were not, the patch,
 * which was made from the base itself, would not apply.
 * Throws LaneError `capture_failed` unless that gives the tree: a patch that does not is no capture.
 */
export async function verifyPatch(copy: Copy, tree: string, path: string, bytes: number): Promise<void> {
  const fresh = captureGit(copy, 'index.verify', copy.paths.ctl);
  await startIndex(fresh, copy.paths.indexBase);
  // Git refuses an empty patch; it must mean that nothing changed.
  const apply = bytes > 0 ? [['apply', '--cached', '--binary', '--whitespace=nowarn', path]] : [];
  const got = (await fresh.inTurn([...apply, ['write-tree']])).stdout.toString('utf8').trim();
  if (got !== tree)
    throw new LaneError('capture_failed', `the patch of ${copy.id} gives ${got}, not ${tree}`);
}
