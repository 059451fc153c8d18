/**
 * Patches that come from elsewhere: streamed into the outbox piece by piece, checked as a whole, and given a receipt as a
 * capture of our own has. Names are made here; nothing that a sender says becomes a path.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, open, rm, stat, unlink } from 'node:fs/promises';
import { LaneError } from '../errors.ts';
import { type Receipt, receiptSchema } from '../records/copies.ts';
import type { UploadAnswer, UploadHead } from '../records/fleet.ts';
import type { Lease, PatchRef } from '../records/runs.ts';
import { hashFile } from './capture/hash.ts';
import { errorCode, onDisk, renameDurably, writeDurably } from './files.ts';
import { outboxPaths, readReceipt } from './outbox.ts';
import type { Workplace } from './workplace.ts';

export interface Uploads {
  /** How much of a lease's patch is here, and whether it is whole and verified. */
  state(lease: Lease): Promise<UploadAnswer>;
  /**
   * Takes a piece of the patch, up to its end or as far as the sender gets; what came stays. When the last byte is here
   * the hash is checked, and `stillHeld` is asked before the patch counts.
   * @throws LaneError `task_conflict` where the piece does not begin at what is here, or another is on its way;
   * `invalid_result` where it is longer than it said, or the hash is another: what was here is thrown away; `disk`.
   */
  append(
    lease: Lease,
    head: UploadHead,
    body: AsyncIterable<Uint8Array>,
    stillHeld: () => Promise<void>,
  ): Promise<UploadAnswer>;
  /**
   * The receipt of a patch that is here whole, by the end of the run that names it; answers with how the patch is named
   * here.
   * @throws LaneError `invalid_result` where it is not whole, or is another one; `disk`.
   */
  settle(lease: Lease, patch: PatchRef): Promise<PatchRef>;
  /** Throws away what is not whole. */
  drop(lease: Lease): Promise<void>;
}

/** Uploads into the outbox of a workplace. */
export function openUploads(place: Workplace): Uploads {
  const busy = new Set<string>();

  const append: Uploads['append'] = async (lease, head, body, stillHeld) => {
    const id = uploadId(lease);
    if (busy.has(id)) throw new LaneError('task_conflict', 'another piece of this patch is on its way');
    busy.add(id);
    try {
      return await onDisk('cannot take a patch', () => take(place, id, head, body, stillHeld));
    } finally {
      busy.delete(id);
    }
  };

  return {
    append,
    state: (lease) => stateOf(place, uploadId(lease)),
    settle: (lease, patch) => onDisk('cannot keep a patch', () => settle(place, lease, patch)),
    async drop(lease) {
      const id = uploadId(lease);
      if (!busy.has(id)) await unlinkIfThere(outboxPaths(place, id).temporary);
    },
  };
}

/** Nearly always there is none, and `rm` looks twice before it says so. */
async function unlinkIfThere(path: string): Promise<void> {
  await unlink(path).catch((error) => {
    if (errorCode(error) !== 'ENOENT') throw error;
  });
}

/** One name for each claim: the lease's id is random, and a fence may begin anew in a wiped store. */
function uploadId({ task, fence, id }: Lease): string {
  const claim = createHash('sha256').update(id).digest('hex').slice(0, 8);
  return `box-${task}-${fence}-${claim}`;
}

async function stateOf(place: Workplace, id: string): Promise<UploadAnswer> {
  const { patch, temporary } = outboxPaths(place, id);
  const whole = await sizeOf(patch);
  if (whole !== null) return { complete: true, offset: whole };
  return { complete: false, offset: (await sizeOf(temporary)) ?? 0 };
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

async function take(
  place: Workplace,
  id: string,
  head: UploadHead,
  body: AsyncIterable<Uint8Array>,
  stillHeld: () => Promise<void>,
): Promise<UploadAnswer> {
  const { patch, temporary } = outboxPaths(place, id);
  const { complete, offset } = await stateOf(place, id);
  if (head.offset !== offset) throw new LaneError('task_conflict', `the patch is here up to byte ${offset}`);
  if (complete) {
    if (head.length === offset && (await hashFile(patch)).sha256 === head.sha256) return { complete, offset };
    throw new LaneError('task_conflict', 'another patch of this run is here');
  }
  if (head.length < offset) throw new LaneError('task_conflict', `the patch is here up to byte ${offset}`);
  const end = await write(temporary, head, body);
  if (end < head.length) return { complete: false, offset: end };
  const { sha256 } = await hashFile(temporary);
  if (end > head.length || sha256 !== head.sha256) {
    await rm(temporary, { force: true });
    throw new LaneError(
      'invalid_result',
      end > head.length ? 'the patch is longer than it said' : 'its hash is another',
    );
  }
  await stillHeld();
  await renameDurably(temporary, patch);
  return { complete: true, offset: end };
}

/** Writes until the body ends, or is longer than it may be. Answers how far the file goes, or one more byte than that. */
async function write(path: string, head: UploadHead, body: AsyncIterable<Uint8Array>): Promise<number> {
  const file = await open(path, head.offset === 0 ? 'w' : 'r+', 0o600);
  try {
    let at = head.offset;
    for await (const piece of body) {
      if (at + piece.length > head.length) return head.length + 1;
      await writeAll(file, piece, at);
      at += piece.length;
    }
    if (at === head.length) await file.sync();
    return at;
  } finally {
    await file.close();
  }
}

async function writeAll(file: FileHandle, piece: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < piece.length; ) {
    done += (await file.write(piece, done, piece.length - done, at + done)).bytesWritten;
  }
}

async function settle(place: Workplace, lease: Lease, said: PatchRef): Promise<PatchRef> {
  const copy = uploadId(lease);
  const patch = { ...said, copy, worker: lease.worker, run: lease.run };
  const paths = outboxPaths(place, copy);
  const bytes = await sizeOf(paths.patch);
  if (bytes === null) throw new LaneError('invalid_result', 'the patch has not been uploaded whole');
  const known = await readReceipt(place, copy);
  const sha256 = known?.sha256 ?? (await hashFile(paths.patch)).sha256;
  if (bytes !== said.bytes || sha256 !== said.sha256) {
    throw new LaneError('invalid_result', 'the patch that was uploaded is another');
  }
  if (known === null)
    await writeDurably(paths.receipt, `${JSON.stringify(receiptOf(place, lease, patch))}\n`);
  return patch;
}

/** What a box says of its copy is taken over; what it does not say is the least that can be true. */
function receiptOf(place: Workplace, { task, namespace, run, fence }: Lease, patch: PatchRef): Receipt {
  const { copy, base, tree, sha256, bytes, files, partial } = patch;
  const valid = receiptSchema.safeParse({
    ...{ v: 1, copy, task, namespace, run, fence, base, tree, sha256, bytes, files, partial },
    ...{ ignored: 0, missing: [], blobs: [], archives: [], emptied: false, rawAttributes: false },
    ...{ containment: 'none', at: place.now() },
  });
  if (!valid.success) throw new LaneError('invalid_result', 'the patch names no base or tree of git');
  return valid.data;
}
