/**
 * Sends a patch to the App, piece by piece, from where the App stopped. A piece is all that is in memory, and all that
 * a broken connection costs.
 */
import { open } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { isLaneError, LaneError } from '../../lanes/index.ts';
import type { FleetClient } from './client.ts';

const pieceBytes = 4 * 1024 ** 2;
const pauseMs = 500;
/** A hash that differs means that a piece was damaged on its way: sent anew once, it is no accident any more. */
const wholeTries = 2;

export interface PatchSource {
  readonly bytes: number;
  readonly sha256: string;
  /** Reads from `offset` at most `length` bytes. */
  read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>>;
}

/** A patch that lies in a file. */
export function patchInFile(path: string, about: { bytes: number; sha256: string }): PatchSource {
  return {
    ...about,
    async read(offset, length) {
      const file = await open(path, 'r');
      try {
        const buffer = Buffer.alloc(length);
        const { bytesRead } = await file.read(buffer, 0, length, offset);
        return buffer.subarray(0, bytesRead);
      } finally {
        await file.close();
      }
    },
  };
}

/**
 * Sends what the App does not have yet, and resolves when it has the whole and has checked the hash. Tries again for as
 * long as `signal` lets it.
 * @throws LaneError `lease_lost`, `invalid_result` and what the client throws; the signal's reason.
 */
export async function uploadPatch(
  client: FleetClient,
  lease: string,
  patch: PatchSource,
  signal: AbortSignal,
): Promise<void> {
  let rejected = 0;
  for (;;) {
    signal.throwIfAborted();
    try {
      const state = await client.patchState(lease);
      if (state.complete || (await sendFrom(client, lease, patch, state.offset, signal))) return;
    } catch (error) {
      signal.throwIfAborted();
      const differs = isLaneError(error, 'invalid_result');
      if (differs) rejected += 1;
      const again = differs ? rejected < wholeTries : isLaneError(error) && error.retryable;
      if (!again) throw error;
    }
    await pause(pauseMs, undefined, { signal });
  }
}

/** Whether the App has the whole at the end. */
async function sendFrom(
  client: FleetClient,
  lease: string,
  patch: PatchSource,
  from: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { sha256, bytes: length } = patch;
  for (let offset = from; ; ) {
    const bytes = await patch.read(offset, Math.min(pieceBytes, length - offset));
    if (bytes.length === 0 && offset < length)
      throw new LaneError('disk', 'the patch is shorter than its receipt says');
    const answer = await client.putPatch(lease, { offset, length, sha256, bytes }, signal);
    if (answer.complete) return true;
    // The App's word counts, and one that does not move on would be asked for ever.
    if (answer.offset <= offset) return false;
    offset = answer.offset;
  }
}
