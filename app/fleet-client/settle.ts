/** From the end of a run on a box to the App's record of it: the patch goes up, then the end is told. */
import { setTimeout as pause } from 'node:timers/promises';
import {
  type InHand,
  isLaneError,
  LaneError,
  patchFile,
  type RunEnd,
  type Workplace,
} from '../../lanes/index.ts';
import type { FleetClient } from './client.ts';
import { patchInFile, uploadPatch } from './upload.ts';

/** How long an answer is waited for before it is asked for again. The lease bounds how often. */
const againMs = 500;

/**
 * Makes one call that may be made twice, again and again while the App is away, for as long as the lease could hold.
 * @throws LaneError what is not retryable; the last failure once the lease is lost.
 */
export async function persist<T>(call: () => Promise<T>, lost: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isLaneError(error) || !error.retryable || lost.aborted) throw error;
    }
    await pause(againMs, undefined, { signal: lost }).catch(() => {});
  }
}

/**
 * Sends the patch, if the end names one, and records the end. Where only proof keeps the task from closing, it is parked
 * with the same end. Where the App cannot take the patch or the end, the run is recorded as failed with what the App
 * said: the patch stays in the outbox here.
 * @param until aborts where it should be given up: the lease is lost, or the box must go
 * @throws LaneError `lease_lost` and others that are about the lease or the caller; the signal's reason
 */
export async function deliver(
  { client, place }: { readonly client: FleetClient; readonly place: Workplace },
  { lease, end }: Pick<InHand, 'lease' | 'end'>,
  until: AbortSignal,
): Promise<string> {
  try {
    if (end.patch !== undefined) {
      const source = patchInFile(patchFile(place, end.patch.copy), end.patch);
      await uploadPatch(client, lease, source, until);
    }
    return (await persist(() => client.complete(lease, end), until)).state;
  } catch (error) {
    until.throwIfAborted();
    if (isLaneError(error, 'proof_unverified')) {
      return (await persist(() => client.park(lease, end), until)).state;
    }
    const failed = failureOf(error);
    if (failed === null) throw error;
    return (await persist(() => client.complete(lease, failed), until)).state;
  }
}

/** The end of a run whose result could not be handed over; null where the lease itself is not good any more. */
function failureOf(error: unknown): RunEnd | null {
  if (isLaneError(error) && error.code !== 'invalid_result' && error.code !== 'disk') return null;
  const code = error instanceof LaneError ? error.code : 'unexpected';
  const why = `its result could not be handed to the App: ${error instanceof Error ? error.message : String(error)}`;
  return { kind: 'died', death: { kind: 'failed', code, why: why.slice(0, 2_000) }, tail: '' };
}
