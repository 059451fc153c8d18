/**
 * Checkpoints: every half minute a running copy's work goes into the outbox, durably, so that a failure of the machine
 * costs no more than that. The run stands still while its files are read, never longer than a bound, and not at all
 * where nothing changed.
 */
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LaneError } from '../errors.ts';
import type { ContainmentLevel, Receipt } from '../records/copies.ts';
import { captureWork } from './capture.ts';
import type { Copy } from './copy.ts';
import { onDisk } from './files.ts';
import { eventOf } from './machine-ledger.ts';
import { blobPath, outboxPaths, readReceipt } from './outbox.ts';
import type { LiveTree } from './process-tree.ts';
import { runProgram } from './program.ts';
import { byTheClock, type Sleep } from './sleep.ts';
import { TOOL_PATH } from './tools.ts';
import type { Workplace } from './workplace.ts';

export interface CheckpointPace {
  /** Between the end of one checkpoint and the beginning of the next. */
  readonly everyMs: number;
  /** The longest that a run stands still for one. */
  readonly maxFrozenMs: number;
  readonly sleep: Sleep;
}

/** Measured: trees stand still for 20 to 280 ms. What takes longer than the bound is tried again ever more rarely. */
export const checkpointPace: CheckpointPace = { everyMs: 30_000, maxFrozenMs: 2_000, sleep: byTheClock };
const SLOWEST_FACTOR = 16;

interface Running {
  readonly place: Workplace;
  readonly copy: Copy;
  readonly containment: ContainmentLevel;
  readonly tree: LiveTree;
  /** Aborts when the run is over. */
  readonly over: AbortSignal;
}

/** Takes checkpoints until the run is over. Never rejects: a checkpoint that fails is in the ledger, and the run goes on. */
export async function takeCheckpoints(running: Running, pace: CheckpointPace): Promise<void> {
  const { over } = running;
  for (let factor = 1; ; ) {
    await pace.sleep(pace.everyMs * factor, over);
    if (over.aborted) return;
    const taken = await takeCheckpoint(running, pace).then(
      () => true,
      () => false,
    );
    factor = taken ? 1 : Math.min(factor * 2, SLOWEST_FACTOR);
  }
}

/** Throws what `captureWork` throws; the checkpoint before it is still there then. */
async function takeCheckpoint(running: Running, pace: CheckpointPace): Promise<void> {
  const { place, copy, over } = running;
  const at = { last: join(copy.paths.ctl, 'checkpoint.last'), next: join(copy.paths.ctl, 'checkpoint.next') };
  if (!(await hasChanged(copy, at.last, over))) return;
  await rm(at.next, { force: true });
  await writeFile(at.next, '', { flag: 'wx', mode: 0o600 });
  const before = await readReceipt(place, copy.id, 'checkpoint').catch(() => null);
  const receipt = await captureFrozen(running, pace);
  await rename(at.next, at.last);
  if (before !== null) await removeBlobs(place, before, receipt);
}

/**
 * Whether anything in the checkout has changed since the file `last` was made. The kernel's change times tell, by the
 * clock that also gave that file its time: no program can set them, and each change of a file or of a folder's list
 * moves one. When in doubt, yes.
 */
async function hasChanged(copy: Copy, last: string, signal: AbortSignal): Promise<boolean> {
  const look = await runProgram({
    file: 'find',
    args: [copy.paths.work, '-newercm', last, '-print', '-quit'],
    env: { PATH: TOOL_PATH, LC_ALL: 'C' },
    cwd: '/',
    signal,
  });
  return look.code !== 0 || look.stdout.length > 0;
}

/** The run goes on as soon as its files are read; at the bound it goes on too, and the capture is given up. */
async function captureFrozen(running: Running, pace: CheckpointPace): Promise<Receipt> {
  const { place, copy, containment, tree, over } = running;
  const [read, bound] = [new AbortController(), new AbortController()];
  const frozen = await tree.freeze().catch(async (error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    await place.ledger.append({ ...eventOf(place, copy.record), event: 'capture_failed', why });
    throw error;
  });
  void pace.sleep(pace.maxFrozenMs, read.signal).then(async () => {
    if (read.signal.aborted) return;
    bound.abort(new LaneError('capture_failed', `its files were not read within ${pace.maxFrozenMs} ms`));
    await frozen.thaw();
  });
  const filesRead = async () => {
    bound.signal.throwIfAborted();
    read.abort();
    await frozen.thaw();
  };
  try {
    const live = { signal: AbortSignal.any([over, bound.signal]), filesRead };
    return await captureWork(place, copy, { kind: 'checkpoint', containment, tornPossible: false, live });
  } finally {
    read.abort();
    await frozen.thaw();
  }
}

/**
 * What becomes of a copy's checkpoint when the copy goes: it goes too where `later` holds its work. It stays, whole,
 * where there is no later capture or that one knows less: files may be cut short, or the checkout was gone. Throws
 * LaneError `disk`.
 */
export async function settleCheckpoint(place: Workplace, id: string, later: Receipt | null): Promise<void> {
  const { patch, receipt, temporary, nextReceipt } = outboxPaths(place, id, 'checkpoint');
  const checkpoint = await readReceipt(place, id, 'checkpoint').catch(() => null);
  if (checkpoint === null) return;
  const knowsLess = later?.tornPossible || later?.missing.some(({ why }) => why === 'copy_removed');
  if (later === null || knowsLess) {
    await place.files.writeDurably(receipt, `${JSON.stringify(checkpoint)}\n`);
    return;
  }
  await onDisk(`cannot remove the checkpoint of ${id}`, async () => {
    // The receipts first: what none describes is nobody's work any more.
    for (const path of [receipt, nextReceipt, patch, temporary]) await rm(path, { force: true });
    await removeBlobs(place, checkpoint, later);
  });
}

/** Big files of a capture that a later one does not hold in the same state. */
async function removeBlobs(place: Workplace, earlier: Receipt, later: Receipt): Promise<void> {
  const kept = new Set(later.blobs.map(({ object }) => object));
  for (const { object } of earlier.blobs) {
    if (!kept.has(object)) await rm(blobPath(place, earlier.copy, object), { force: true });
  }
}
