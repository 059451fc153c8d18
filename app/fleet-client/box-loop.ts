/** The box's loop: asks for work, does it, and goes when there was none for long enough. One run at a time. */
import { setTimeout as pause } from 'node:timers/promises';
import { type ClaimAnswer, isLaneError, maxClaimWaitMs } from '../../lanes/index.ts';
import { type BoxParts, runClaim } from './box-run.ts';

export interface BoxStay {
  readonly namespace: string;
  /** How long it waits without work before it goes, in ms. */
  readonly ttlMs: number;
  /** One task, then it goes. */
  readonly once: boolean;
}

/** How long an App that is away is left alone between two questions. */
const awayPauseMs = 1_000;

/**
 * Serves a namespace until there is no work for `ttlMs`, or `stop` aborts, or, with `once`, one task is done.
 * @throws LaneError where the box is shut out, or the App cannot be understood.
 */
export async function stay(
  parts: BoxParts,
  { namespace, ttlMs, once }: BoxStay,
  stop: AbortSignal,
): Promise<void> {
  let idleFromMs = performance.now();
  while (!stop.aborted) {
    const leftMs = Math.floor(idleFromMs + ttlMs - performance.now());
    if (leftMs <= 0) return parts.log('no work came', { ttlMs });
    const claim = await ask(parts, namespace, Math.min(leftMs, maxClaimWaitMs), stop);
    if (claim === null) continue;
    parts.log('a run was claimed', { task: claim.task, run: claim.run });
    await runClaim(parts, claim, stop);
    if (once) return;
    idleFromMs = performance.now();
  }
}

/** Null where no work came, or the App is away. */
async function ask(
  { client, log }: BoxParts,
  namespace: string,
  waitMs: number,
  stop: AbortSignal,
): Promise<ClaimAnswer | null> {
  try {
    return await client.claim(namespace, waitMs, stop);
  } catch (error) {
    if (stop.aborted) return null;
    if (!isLaneError(error) || !error.retryable) throw error;
    log('the App cannot be asked for work now', { why: error.message });
    await pause(Math.min(awayPauseMs, waitMs), undefined, { signal: stop }).catch(() => {});
    return null;
  }
}
