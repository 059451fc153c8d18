/**
 * Brings the work of an earlier run into a new copy: applied to its files, or, where it does not apply any more, as a
 * file for the agent. What cannot be brought is said, never passed over.
 */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Receipt } from '../records/copies.ts';
import type { EarlierPatch } from '../records/task-file.ts';
import type { Task } from '../records/tasks.ts';
import type { Copy } from './copy.ts';
import { onDisk } from './files.ts';
import { findReceipts, outboxPaths } from './outbox.ts';
import { restoreBeside, restorePatch } from './restore.ts';
import type { Workplace } from './workplace.ts';

export interface BroughtBack {
  readonly patch: EarlierPatch | null;
  readonly notices: readonly string[];
}

/**
 * Looks in this worker's outbox for the newest patch of the task, also of a run that could not be recorded, and puts
 * it into the copy.
 * @throws LaneError `disk`.
 */
export async function bringBackPatch(place: Workplace, copy: Copy, task: Task): Promise<BroughtBack> {
  const newest = newestWork(await findReceipts(place, task.id));
  if (newest === undefined || newest.run < (task.patch?.run ?? 0))
    return { patch: null, notices: elsewhere(task) };
  const patchFile = outboxPaths(place, newest.copy, newest.kind).patch;
  const applied = newest.bytes === 0 || (await restorePatch(copy, patchFile)) === 'applied';
  if (applied) {
    const failed = await restoreBeside(place, copy, newest);
    return { patch: { state: 'restored', run: newest.run }, notices: shortcomings(newest, failed) };
  }
  const file = join(copy.paths.io, 'earlier.patch');
  await onDisk('cannot hand over the earlier patch', () => copyFile(patchFile, file));
  const notice = `The patch of run ${newest.run} does not apply any more. The agent was given it as a file.`;
  const notices = [...shortcomings(newest, besides(newest)), notice];
  return { patch: { state: 'does_not_apply', run: newest.run, file }, notices };
}

function elsewhere(task: Task): string[] {
  if (task.patch === undefined || task.patch.bytes === 0) return [];
  const { run, worker } = task.patch;
  return [`The patch of run ${run} lies on worker ${worker}, not on this one. This run began without it.`];
}

/** Of each copy the capture that counts; of those the newest that holds anything. */
function newestWork(receipts: readonly Receipt[]): Receipt | undefined {
  const hides = (later: Receipt, one: Receipt) => later.copy === one.copy && !knowsNothing(later);
  const counting = receipts.filter((one, at) => !receipts.slice(at + 1).some((later) => hides(later, one)));
  return counting.filter(holdsWork).at(-1);
}

/** A capture that found nothing where there may have been work says nothing against an earlier one. */
function knowsNothing(receipt: Receipt): boolean {
  const { missing, tornPossible } = receipt;
  return missing.some(({ why }) => why === 'copy_removed') || (tornPossible && !holdsWork(receipt));
}

/** An empty patch can have a large file or a repository beside it. */
function holdsWork(receipt: Receipt): boolean {
  return receipt.bytes > 0 || besides(receipt).length > 0;
}

/** The paths of what a receipt has beside its patch, as files of the checkout. */
function besides({ blobs, archives }: Receipt): string[] {
  const embedded = archives.filter(({ kind }) => kind === 'embedded_repository');
  return [...blobs, ...embedded].map(({ path }) => path);
}

/** What the earlier work may lack, for the agent and for people. */
function shortcomings(receipt: Receipt, notBrought: readonly string[]): string[] {
  const { run } = receipt;
  const beside = new Set(besides(receipt));
  const lost = receipt.missing.filter(({ path }) => !beside.has(path)).length + notBrought.length;
  const notices: string[] = [];
  if (lost > 0) {
    const files = lost === 1 ? '1 file' : `${lost} files`;
    notices.push(`The patch of run ${run} lacks ${files} that could not be part of it.`);
  }
  if (receipt.archives.some(({ kind }) => kind === 'git_state')) {
    notices.push(
      `What the agent of run ${run} committed or stashed is kept on the worker. Its files were brought.`,
    );
  }
  if (receipt.tornPossible) {
    notices.push(`The machine went down during run ${run}: the last files of its work may be cut short.`);
  }
  if (receipt.kind === 'checkpoint') {
    notices.push(`Of run ${run} a checkpoint is left: what it did in its last moments is not in it.`);
  }
  return notices;
}
