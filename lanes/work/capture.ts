/**
 * Capture: takes the complete patch out of a copy into the outbox, and proves that it is complete by applying it to
 * the base again. The first act after the agent's exit, when its whole process tree is gone.
 */
import { lstat, readdir } from 'node:fs/promises';
import { LaneError } from '../errors.ts';
import type { CaptureKind, ContainmentLevel, Missing, Receipt } from '../records/copies.ts';
import { receiptSchema } from '../records/copies.ts';
import { keepBlobs } from './capture/blobs.ts';
import { inexactFiles } from './capture/exact.ts';
import { keepGitState, keepRepositories } from './capture/keep-archives.ts';
import { verifyPatch, writePatch } from './capture/patch.ts';
import { readablePath } from './capture/paths.ts';
import { type TakenTree, takeTree, treeOfRemovedCopy } from './capture/tree.ts';
import { advance, type Copy } from './copy.ts';
import { errorCode, type Files, onDisk } from './files.ts';
import { eventOf } from './machine-ledger.ts';
import { type OutboxPaths, outboxPaths } from './outbox.ts';
import { RUN_OVER } from './process-tree/request.ts';
import type { Point, Workplace } from './workplace.ts';

/** A list in a receipt is for people; what is beyond this is still counted as `partial`. */
const MAX_MISSING = 1_000;
const NOTHING_BESIDE: Beside = { blobs: [], archives: [], missing: [] };
/** Git's name for a tree without entries, by SHA-1 and by SHA-256. */
const EMPTY_TREES = new Set([
  '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
]);

export interface CaptureOrder {
  readonly kind: CaptureKind;
  /** The level that the copy's agent ran in. */
  readonly containment: ContainmentLevel;
  /** The machine started again since the copy's files were written. */
  readonly tornPossible: boolean;
  /** Of a copy whose agent lives on, held still while its files are read. */
  readonly live?: LiveCopy;
}

export interface LiveCopy {
  /** Aborts a capture that takes too long or is not wanted any more. */
  readonly signal: AbortSignal;
  /** Told once nothing of the checkout is read any more. An error of it ends the capture. */
  filesRead(): Promise<void>;
}

/** The capture at the end of a run: the copy moves to `captured`. Throws as `captureWork` does. */
export async function captureResult(
  place: Workplace,
  copy: Copy,
  containment: ContainmentLevel,
): Promise<Receipt> {
  return await captureWork(place, copy, { kind: 'result', containment, tornPossible: false });
}

/**
 * Captures a copy. The receipt says what the patch does not hold (`partial`, `missing`) and whether the agent deleted
 * everything (`emptied`). All but a checkpoint moves the copy to `captured`. Throws LaneError `capture_failed`,
 * `git_failed` or `disk`: the copy must then be kept.
 */
export async function captureWork(place: Workplace, copy: Copy, order: CaptureOrder): Promise<Receipt> {
  try {
    const receipt = await onDisk('cannot capture a copy', () => capture(place, copy, order));
    if (order.kind !== 'checkpoint') {
      await advance(copy, 'captured');
      await place.point('captured');
    }
    const { kind, sha256, bytes, partial, tornPossible } = receipt;
    const about = { kind, sha256, bytes, partial, tornPossible };
    await place.ledger.append({ ...eventOf(place, copy.record), event: 'captured', ...about });
    return receipt;
  } catch (error) {
    // Its run came to its end: what follows is the capture that counts.
    if (order.live?.signal.reason === RUN_OVER) throw error;
    const why = error instanceof Error ? error.message : String(error);
    // A ledger on the same broken disk must not hide why the capture failed.
    await place.ledger
      .append({ ...eventOf(place, copy.record), event: 'capture_failed', why })
      .catch(() => {});
    throw error;
  }
}

async function capture(place: Workplace, copy: Copy, order: CaptureOrder): Promise<Receipt> {
  const { kind, containment, tornPossible, live } = order;
  const out = outboxPaths(place, copy.id, kind);
  const point = (name: string) => place.point(`${kind}.${name}`);
  await point('begin');
  const there = await isFolder(copy.paths.work);
  const taken = there ? await takeTree(copy, kind, live?.signal) : await treeOfRemovedCopy(copy);
  const { git, tree } = taken;
  await point('added');
  live?.signal.throwIfAborted();
  await live?.filesRead();
  const beside = there && kind !== 'checkpoint' ? await keepBeside(place, taken, kind) : NOTHING_BESIDE;
  const patch = await writePatch(git, tree, out.temporary, place.files.sync, point);
  await verifyPatch(copy, tree, out.temporary, patch.bytes);
  const missing = gravestFirst([...taken.missing, ...beside.missing], beside).slice(0, MAX_MISSING);
  const { task, namespace, run, fence, base } = copy.record;
  const receipt = receiptSchema.parse({
    ...{ v: 1, kind, copy: copy.id, task, namespace, run, fence, base, tree, ...patch },
    ...{ files: taken.changes.length, ignored: taken.ignored, missing, partial: missing.length > 0 },
    ...{ blobs: beside.blobs, archives: beside.archives, rawAttributes: taken.rawAttributes },
    emptied: there && EMPTY_TREES.has(tree) && !taken.baseIsEmpty,
    ...{ containment, tornPossible, at: place.now() },
  });
  await publish(place.files, out, receipt, point);
  return receipt;
}

type Beside = Pick<Receipt, 'blobs' | 'archives' | 'missing'>;

/** What the patch cannot hold, into the outbox before the receipt names it. */
async function keepBeside(place: Workplace, taken: TakenTree, kind: CaptureKind): Promise<Beside> {
  const { git, large, repositories, changes } = taken;
  const inexact = taken.converts ? await inexactFiles(git, changes) : [];
  const blobs = await keepBlobs(place, git, [...large, ...inexact]);
  const embedded = await keepRepositories(place, git.copy, kind, repositories);
  const state = await keepGitState(place, git.copy, kind);
  const unkept = inexact.filter(({ path }) => !blobs.some((blob) => blob.path === readablePath(path)));
  const inexactNames = unkept.map(({ path }): Missing => ({ path: readablePath(path), why: 'unsettled' }));
  return {
    blobs,
    archives: [...embedded.archives, ...state.archives],
    missing: [...embedded.missing, ...state.missing, ...inexactNames],
  };
}

/** What nothing holds comes first, so that a list that is cut never loses the reason to keep the copy. */
function gravestFirst(missing: readonly Missing[], { blobs, archives }: Beside): Missing[] {
  const saved = new Set([...blobs, ...archives].map(({ path }) => path));
  const weight = ({ path, why }: Missing) => (why === 'special_file' ? 2 : saved.has(path) ? 1 : 0);
  return [...missing].sort((a, b) => weight(a) - weight(b));
}

/**
 * The patch first, since a receipt is the proof that it is there. A checkpoint replaces an older one: its receipt lies
 * ready before the patch takes the older one's place, so that no kill leaves a patch that nothing describes.
 */
async function publish(files: Files, out: OutboxPaths, receipt: Receipt, point: Point): Promise<void> {
  const text = `${JSON.stringify(receipt)}\n`;
  const isCheckpoint = receipt.kind === 'checkpoint';
  if (isCheckpoint) await files.writeDurably(out.nextReceipt, text);
  await files.renameDurably(out.temporary, out.patch);
  await point('renamed');
  if (isCheckpoint) await files.renameDurably(out.nextReceipt, out.receipt);
  else await files.writeDurably(out.receipt, text);
  await point('receipt');
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
