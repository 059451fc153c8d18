/**
 * The end of a copy, the same for its owner and for a reaper: a tombstone says who removes it and why, then it goes.
 * Every step tests what is on the disk, so that whoever holds the lock can go on where a dead one stopped.
 */
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LaneError } from '../errors.ts';
import type { Tombstone } from '../records/copies.ts';
import { captureKindSchema } from '../records/copies.ts';
import { settleCheckpoint } from './checkpoints.ts';
import { clearRecords, removeTree } from './clear.ts';
import { advance, type Copy } from './copy.ts';
import { errorCode, onDisk } from './files.ts';
import type { Lock } from './lock.ts';
import { eventOf } from './machine-ledger.ts';
import { outboxPaths, readReceipt } from './outbox.ts';
import { unpin } from './pins.ts';
import { unsavedWork } from './saved.ts';
import { intentOf, type RemovalOrder, readTombstone, writeTombstone } from './tombstone.ts';
import type { Workplace } from './workplace.ts';

export type Removal = { kind: 'removed'; tombstone: Tombstone } | { kind: 'kept'; why: string };

/**
 * The normal end: the owner removes its captured copy and frees its lock. A copy that still holds work which no patch
 * has is `kept`. Throws as `removeFor` does.
 */
export async function removeCopy(place: Workplace, lock: Lock, copy: Copy): Promise<Removal> {
  demandLock(lock, copy);
  const receipt = await readReceipt(place, copy.id);
  const why = receipt === null ? 'nothing was captured' : await unsavedWork(place, receipt, copy.paths.work);
  if (why !== null) {
    await place.ledger.append({ ...eventOf(place, copy.record), event: 'removal_refused', why });
    return { kind: 'kept', why };
  }
  const { state } = copy.record;
  const order: RemovalOrder = { reason: 'completed', reapers: [place.owner], priorState: state, receipt };
  return { kind: 'removed', tombstone: await removeFor(place, lock, copy, order) };
}

/**
 * Removes a copy and frees its lock. Holding the owner's lock is the right to delete, so it is an argument; that the
 * work is saved is the caller's proof, in the order. A removal that was begun is finished under its own reason. Throws
 * LaneError `copy_failed` or `disk`; what is then left is finished by the next holder of the lock.
 */
export async function removeFor(
  place: Workplace,
  lock: Lock,
  copy: Copy,
  order: RemovalOrder,
): Promise<Tombstone> {
  demandLock(lock, copy);
  const begun = await readTombstone(place, copy.id);
  if (begun !== null && begun.owner.uuid !== copy.record.owner.uuid) {
    throw new LaneError('copy_failed', `the tombstone of ${copy.id} is of another owner`);
  }
  const intent = await writeTombstone(place, intentOf(place, copy, order, begun));
  const tombstone = intent.phase === 'done' ? intent : await bury(place, copy, intent);
  await unpin(place, copy.record.repositoryId, copy.id);
  await place.point('rm.unpinned');
  await settleCheckpoint(place, copy.id, order.receipt);
  await clearTemporaries(place, copy.id);
  await clearRecords(place, copy);
  await lock.release();
  return tombstone;
}

/** Moves the files to the grave, where no agent looks for them. Files that are there already are fine. */
export async function moveToGrave(place: Workplace, copy: Copy): Promise<void> {
  await onDisk(`cannot move ${copy.id}`, async () => {
    try {
      await rename(copy.paths.work, copy.paths.grave);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
    await place.files.syncFolder(place.graveDir);
    await place.files.syncFolder(place.workDir);
  });
}

function demandLock(lock: Lock, copy: Copy): void {
  if (!lock.held || lock.path !== copy.paths.ownerLock) {
    throw new LaneError('copy_failed', `the lock of ${copy.id} is not held`);
  }
}

async function bury(place: Workplace, copy: Copy, intent: Tombstone): Promise<Tombstone> {
  await advance(copy, 'deleting');
  await place.point('rm.tombstoned');
  await moveToGrave(place, copy);
  await place.point('rm.renamed');
  await onDisk(`cannot remove ${copy.id}`, async () => {
    await removeTree(copy.paths.grave);
    await place.files.syncFolder(place.graveDir);
  });
  await place.point('rm.deleted');
  // Before `done`: whoever goes on after that need not ask whether it was told.
  const { reason, reapers, receipt, by } = intent;
  const event = { ...eventOf(place, copy.record), event: 'removed' as const, reason, reapers };
  const more = by === null ? {} : { by };
  await place.ledger.append({ ...event, sha256: receipt?.sha256 ?? null, ...more });
  return await writeTombstone(place, { ...intent, phase: 'done', doneAt: place.now() });
}

/** What dead writers of this copy left in the outbox. Its lock is held, so nobody writes there. */
async function clearTemporaries(place: Workplace, id: string): Promise<void> {
  await onDisk(`cannot clear up after ${id}`, async () => {
    const folder = join(place.outboxDir, 'tmp');
    const ours = (await readdir(folder)).filter((name) => name.startsWith(`${id}.`));
    for (const name of ours) await rm(join(folder, name), { force: true });
    for (const kind of captureKindSchema.options) {
      const { patch, receipt } = outboxPaths(place, id, kind);
      await rm(`${receipt}.tmp`, { force: true });
      // A patch without its receipt was never finished; the capture that counts was taken after it.
      if ((await stat(receipt).catch(() => null)) === null) await rm(patch, { force: true });
    }
  });
}
