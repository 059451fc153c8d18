/**
 * The normal end of a copy: its work is in the outbox, a tombstone says who removes it and why, then it goes. Every
 * step tests what is on the disk, so that whoever holds the lock can go on where a dead one stopped.
 */
import { rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LaneError } from '../errors.ts';
import type { Receipt, Tombstone } from '../records/copies.ts';
import { tombstoneSchema } from '../records/copies.ts';
import { advance, type Copy } from './copy.ts';
import { errorCode, onDisk, renameDurably, syncFolder, writeDurably } from './files.ts';
import type { Lock } from './lock.ts';
import { eventOf } from './machine-ledger.ts';
import { unpin } from './mirror.ts';
import { outboxPaths, readReceipt } from './outbox.ts';
import { runProgram } from './program.ts';
import { TOOL_PATH } from './tools.ts';
import type { Workplace } from './workplace.ts';

export type Removal = { kind: 'removed'; tombstone: Tombstone } | { kind: 'kept'; why: string };

/**
 * Removes a captured copy and frees its lock. Holding the owner's lock is the right to delete, so it is an argument.
 * A copy that still holds work which no patch has is `kept`. Throws LaneError `copy_failed` or `disk`; what is then
 * left is finished by the next holder of the lock.
 */
export async function removeCopy(place: Workplace, lock: Lock, copy: Copy): Promise<Removal> {
  if (!lock.held || lock.path !== copy.paths.ownerLock) {
    throw new LaneError('copy_failed', `the lock of ${copy.id} is not held`);
  }
  const receipt = await readReceipt(place, copy.id);
  const why = await reasonToKeep(place, receipt);
  if (why !== null || receipt === null) return await keep(place, copy, why ?? 'nothing was captured');
  const intent = await writeIntent(place, copy, receipt);
  await onDisk(`cannot remove ${copy.id}`, () => bury(place, copy));
  const tombstone = await writeTombstone(place, { ...intent, phase: 'done', doneAt: place.now() });
  await unpin(place, copy.record.repositoryId, copy.id);
  await place.point('rm.unpinned');
  await place.ledger.append({ ...eventOf(place, copy.record), event: 'removed', sha256: receipt.sha256 });
  const dead = join(place.ctlDir, `.dead-${copy.id}`);
  await onDisk(`cannot remove ${copy.id}`, async () => {
    await renameDurably(copy.paths.ctl, dead);
    await removeTree(dead);
    await syncFolder(place.ctlDir);
  });
  await lock.release();
  return { kind: 'removed', tombstone };
}

/** Why the copy still holds the only instance of something, or null. */
async function reasonToKeep(place: Workplace, receipt: Receipt | null): Promise<string | null> {
  if (receipt === null) return 'nothing was captured';
  const patch = await stat(outboxPaths(place, receipt.copy).patch).catch(() => null);
  if (patch?.size !== receipt.bytes) return 'its patch is not in the outbox';
  const unsaved = receipt.missing.find(({ why }) => why === 'not_readable' || why === 'embedded_repository');
  return unsaved ? `${unsaved.path} is in no patch (${unsaved.why})` : null;
}

async function keep(place: Workplace, copy: Copy, why: string): Promise<Removal> {
  await place.ledger.append({ ...eventOf(place, copy.record), event: 'removal_refused', why });
  return { kind: 'kept', why };
}

async function writeIntent(place: Workplace, copy: Copy, receipt: Receipt): Promise<Tombstone> {
  const { task, namespace, run, fence, owner, state } = copy.record;
  const { sha256, tree, bytes } = receipt;
  const intent = await writeTombstone(place, {
    ...{ v: 1, id: copy.id, task, namespace, run, fence, reason: 'completed', reapers: [place.owner], owner },
    ...{
      priorState: state,
      receipt: { sha256, tree, bytes },
      phase: 'intent',
      intentAt: place.now(),
      doneAt: null,
    },
  });
  await advance(copy, 'deleting');
  await place.point('rm.tombstoned');
  return intent;
}

async function writeTombstone(place: Workplace, tombstone: Tombstone): Promise<Tombstone> {
  const checked = tombstoneSchema.parse(tombstone);
  await writeDurably(join(place.tombstonesDir, `${checked.id}.json`), `${JSON.stringify(checked)}\n`);
  return checked;
}

async function bury(place: Workplace, copy: Copy): Promise<void> {
  try {
    await rename(copy.paths.work, copy.paths.grave);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  await syncFolder(place.graveDir);
  await syncFolder(place.workDir);
  await place.point('rm.renamed');
  await removeTree(copy.paths.grave);
  await syncFolder(place.graveDir);
  await place.point('rm.deleted');
}

/** In a child: removing 20,000 files here would block everything else for seconds. */
async function removeTree(path: string): Promise<void> {
  const remove = () => system('rm', ['-rf', '--one-file-system', '--', path]);
  if ((await remove()).code === 0) return;
  // Folders without write permission (module caches, say) stop rm for an ordinary user.
  await system('chmod', ['-R', 'u+rwX', '--', path]);
  const again = await remove();
  if (again.code !== 0)
    throw new LaneError('copy_failed', `cannot remove ${path}: ${again.stderr.toString()}`);
}

function system(file: string, args: string[]) {
  return runProgram({ file, args, env: { PATH: TOOL_PATH, LC_ALL: 'C' }, cwd: '/' });
}
