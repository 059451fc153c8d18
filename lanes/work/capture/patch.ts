/** The second half of a capture: the patch from the base to the tree, and the proof that it is complete. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { LaneError } from '../../errors.ts';
import type { Point } from '../workplace.ts';
import { type CaptureGit, captureGit, startIndex } from './capture-git.ts';

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

export interface WrittenPatch {
  sha256: string;
  bytes: number;
}

/** Streams the patch into a new file and makes it durable. Memory stays small whatever the patch's size. */
export async function writePatch(
  git: CaptureGit,
  tree: string,
  path: string,
  point: Point,
): Promise<WrittenPatch> {
  await rm(path, { force: true });
  const file = await open(path, 'wx', 0o600);
  try {
    await git.run([...DIFF, git.copy.record.base, tree], { stdoutFd: file.fd });
    await point('result.streamed');
    await file.sync();
  } finally {
    await file.close();
  }
  await point('result.synced');
  return await hashFile(path);
}

/**
 * Applies the patch to the base in a fresh index. Throws LaneError `capture_failed` unless the tree is the same: a
 * patch that does not give the work back is not a capture.
 */
export async function verifyPatch(git: CaptureGit, tree: string, path: string, bytes: number): Promise<void> {
  const { copy } = git;
  const fresh = captureGit(copy, 'index.verify', copy.paths.ctl);
  await startIndex(fresh, null);
  await fresh.run(['read-tree', copy.record.base]);
  // Git refuses an empty patch; it must mean that nothing changed.
  if (bytes > 0) await fresh.run(['apply', '--cached', '--binary', '--whitespace=nowarn', path]);
  const got = await fresh.text(['write-tree']);
  if (got !== tree)
    throw new LaneError('capture_failed', `the patch of ${copy.id} gives ${got}, not ${tree}`);
}

async function hashFile(path: string): Promise<WrittenPatch> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { sha256: hash.digest('hex'), bytes };
}
