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
import { restorePatch } from './restore.ts';
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
  const newest = (await findReceipts(place, task.id)).filter(({ bytes }) => bytes > 0).at(-1);
  if (newest === undefined || newest.run < (task.patch?.run ?? 0))
    return { patch: null, notices: elsewhere(task) };
  const patchFile = outboxPaths(place, newest.copy).patch;
  const notices = newest.missing.length > 0 ? [incomplete(newest)] : [];
  if ((await restorePatch(copy, patchFile)) === 'applied') {
    return { patch: { state: 'restored', run: newest.run }, notices };
  }
  const file = join(copy.paths.io, 'earlier.patch');
  await onDisk('cannot hand over the earlier patch', () => copyFile(patchFile, file));
  const notice = `The patch of run ${newest.run} does not apply any more. The agent was given it as a file.`;
  return { patch: { state: 'does_not_apply', run: newest.run, file }, notices: [...notices, notice] };
}

function elsewhere(task: Task): string[] {
  if (task.patch === undefined || task.patch.bytes === 0) return [];
  const { run, worker } = task.patch;
  return [`The patch of run ${run} lies on worker ${worker}, not on this one. This run began without it.`];
}

function incomplete(receipt: Receipt): string {
  const count = receipt.missing.length;
  return `The patch of run ${receipt.run} lacks ${count === 1 ? '1 file' : `${count} files`} that could not be part of it.`;
}
