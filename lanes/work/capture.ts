/**
 * Capture: takes the complete patch out of a copy into the outbox, and proves that it is complete by applying it to
 * the base again. The first act after the agent's exit, when its whole process tree is gone.
 */
import { lstat, readdir } from 'node:fs/promises';
import { LaneError } from '../errors.ts';
import type { ContainmentLevel, Receipt } from '../records/copies.ts';
import { receiptSchema } from '../records/copies.ts';
import { keepBlobs, leaveOutBig } from './capture/big-files.ts';
import { type CaptureGit, readablePath } from './capture/capture-git.ts';
import { verifyPatch, writePatch } from './capture/patch.ts';
import { takeTree, treeOfRemovedCopy } from './capture/tree.ts';
import { advance, type Copy } from './copy.ts';
import { errorCode, onDisk, renameDurably, writeDurably } from './files.ts';
import { eventOf } from './machine-ledger.ts';
import { outboxPaths } from './outbox.ts';
import type { Workplace } from './workplace.ts';

/**
 * Captures a copy and moves it to `captured`. The receipt says what the patch does not hold (`partial`, `missing`) and
 * whether the agent deleted everything (`emptied`). Throws LaneError `capture_failed`, `git_failed` or `disk`: the
 * copy must then be kept.
 */
export async function captureResult(
  place: Workplace,
  copy: Copy,
  containment: ContainmentLevel,
): Promise<Receipt> {
  try {
    const receipt = await onDisk('cannot capture a copy', () => capture(place, copy, containment));
    await advance(copy, 'captured');
    await place.point('captured');
    const { sha256, bytes, partial } = receipt;
    await place.ledger.append({ ...eventOf(place, copy.record), event: 'captured', sha256, bytes, partial });
    return receipt;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    // A ledger on the same broken disk must not hide why the capture failed.
    await place.ledger
      .append({ ...eventOf(place, copy.record), event: 'capture_failed', why })
      .catch(() => {});
    throw error;
  }
}

async function capture(place: Workplace, copy: Copy, containment: ContainmentLevel): Promise<Receipt> {
  const out = outboxPaths(place, copy.id);
  await place.point('result.begin');
  const taken = (await isFolder(copy.paths.work)) ? await takeTree(copy) : await treeOfRemovedCopy(copy);
  const { git, ignored, rawAttributes } = taken;
  await place.point('result.added');
  const { tree, big, files } = await leaveOutBig(git, taken.tree);
  const blobs = await keepBlobs(place, git, big);
  const patch = await writePatch(git, tree, out.temporary, place.point);
  await verifyPatch(git, tree, out.temporary, patch.bytes);
  await renameDurably(out.temporary, out.patch);
  await place.point('result.renamed');
  const tooBig = big.map(({ path }) => ({ path: readablePath(path), why: 'too_big' }));
  const missing = [...taken.missing, ...tooBig];
  const { task, namespace, run, fence, base } = copy.record;
  const receipt = receiptSchema.parse({
    ...{ v: 1, copy: copy.id, task, namespace, run, fence, base, tree, ...patch },
    ...{ files, ignored, blobs, missing, partial: missing.length > 0 },
    emptied: (await isEmpty(git, tree)) && !(await isEmpty(git, base)),
    ...{ rawAttributes, containment, at: place.now() },
  });
  await writeDurably(out.receipt, `${JSON.stringify(receipt)}\n`);
  await place.point('result.receipt');
  return receipt;
}

async function isEmpty(git: CaptureGit, tree: string): Promise<boolean> {
  return (await git.text(['ls-tree', tree])) === '';
}

/** A symbolic link in the place of the checkout is not the checkout: what it points to is not ours. */
async function isFolder(path: string): Promise<boolean> {
  try {
    if (!(await lstat(path)).isDirectory()) return false;
    await readdir(path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw new LaneError('capture_failed', `${path} cannot be read`, { cause: error });
  }
}
