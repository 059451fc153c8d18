/**
 * Hold: the one renewer of a run. It extends the task's lease and the wake-up's lock together. The lease is the
 * authority: when it is lost, or cannot be renewed before it ends, the signal says so and the work must stop.
 */
import { isLaneError, LaneError } from '../errors.ts';
import type { Lease } from '../records/runs.ts';

export interface Kept {
  /** Aborts once the lease is lost; its reason is a LaneError. */
  readonly signal: AbortSignal;
  /** Ends the renewing. The lease is left as it is. */
  stop(): void;
}

export interface Renewing {
  /** Extends the lease in the store. */
  renew(lease: Lease): Promise<unknown>;
  /** Extends the wake-up's lock. Without it the wake-up is handed out again, and its claim finds the task running. */
  extendLock(): Promise<unknown>;
  readonly leaseTtlMs: number;
  readonly renewEveryMs: number;
}

/** Renews until stopped or lost. */
export function keep(lease: Lease, renewing: Renewing): Kept {
  // Made when asked for: a signal costs more than the rest of a hold.
  let controller: AbortController | undefined;
  let lost: LaneError | undefined;
  let timer: NodeJS.Timeout | undefined;
  let deadline: NodeJS.Timeout | undefined;

  const stop = (): void => {
    clearTimeout(timer);
    clearTimeout(deadline);
    timer = undefined;
  };
  const lose = (error: LaneError): void => {
    stop();
    lost = error;
    controller?.abort(error);
  };
  // The store may be out of reach for longer than the lease lasts; then it has ended, whatever the store would say.
  const holdUntil = (fromMs: number): void => {
    clearTimeout(deadline);
    const late = (): void => lose(new LaneError('lease_lost', 'it could not be renewed in time'));
    deadline = setTimeout(late, Math.max(fromMs + renewing.leaseTtlMs - performance.now(), 0));
  };
  const again = (): void => {
    timer = setTimeout(() => void renewOnce(), renewing.renewEveryMs);
  };
  const renewOnce = async (): Promise<void> => {
    const askedAt = performance.now();
    try {
      const lock = renewing.extendLock().catch(() => undefined);
      await renewing.renew(lease);
      if (timer === undefined) return;
      holdUntil(askedAt);
      await lock;
    } catch (error) {
      if (timer === undefined) return;
      if (!isLaneError(error, 'store_unavailable')) return lose(asLost(error));
    }
    if (timer !== undefined) again();
  };

  holdUntil(performance.now());
  again();
  return {
    get signal() {
      controller ??= new AbortController();
      if (lost !== undefined) controller.abort(lost);
      return controller.signal;
    },
    stop,
  };
}

function asLost(error: unknown): LaneError {
  return error instanceof LaneError ? error : new LaneError('lease_lost', undefined, { cause: error });
}
