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
  readonly leaseTtlMs: number;
  readonly renewEveryMs: number;
}

/**
 * Renews until stopped or lost. `extendLock` extends the wake-up's lock: without it the wake-up is handed out again, and
 * its claim finds the task running.
 */
export function keep(lease: Lease, renewing: Renewing, extendLock: () => Promise<unknown>): Kept {
  return new Holding(lease, renewing, extendLock);
}

/** A class for its cost: every run has one, and closures over this much are slow to make and to free. */
class Holding implements Kept {
  readonly #lease: Lease;
  readonly #renewing: Renewing;
  readonly #extendLock: () => Promise<unknown>;
  /** Made when asked for: a signal costs more than the rest of a hold. */
  #controller: AbortController | undefined;
  #lost: LaneError | undefined;
  #stopped = false;
  /** When the lease was last known to have its whole time before it, by `performance.now()`. */
  #heldFromMs = performance.now();
  #timer: NodeJS.Timeout;
  #deadline: NodeJS.Timeout | undefined;

  constructor(lease: Lease, renewing: Renewing, extendLock: () => Promise<unknown>) {
    this.#lease = lease;
    this.#renewing = renewing;
    this.#extendLock = extendLock;
    this.#timer = this.#renewLater();
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#lost !== undefined) this.#controller.abort(this.#lost);
    return this.#controller.signal;
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#deadline);
  }

  #renewLater(): NodeJS.Timeout {
    return setTimeout(() => void this.#renewOnce(), this.#renewing.renewEveryMs);
  }

  async #renewOnce(): Promise<void> {
    const askedAtMs = performance.now();
    this.#loseUnlessRenewed();
    try {
      const lock = this.#extendLock().catch(() => undefined);
      await this.#renewing.renew(this.#lease);
      if (this.#stopped) return;
      clearTimeout(this.#deadline);
      this.#heldFromMs = askedAtMs;
      await lock;
    } catch (error) {
      if (this.#stopped) return;
      if (!isLaneError(error, 'store_unavailable')) return this.#lose(asLost(error));
    }
    if (!this.#stopped) this.#timer = this.#renewLater();
  }

  /** The store may be out of reach for longer than the lease lasts; then it has ended, whatever the store would say. */
  #loseUnlessRenewed(): void {
    clearTimeout(this.#deadline);
    const leftMs = this.#heldFromMs + this.#renewing.leaseTtlMs - performance.now();
    const late = new LaneError('lease_lost', 'it could not be renewed in time');
    this.#deadline = setTimeout(() => this.#lose(late), Math.max(leftMs, 0));
  }

  #lose(error: LaneError): void {
    this.stop();
    this.#lost = error;
    this.#controller?.abort(error);
  }
}

function asLost(error: unknown): LaneError {
  return error instanceof LaneError ? error : new LaneError('lease_lost', undefined, { cause: error });
}
