/**
 * The broker's seat. `broker:github` has exactly one drainer: where several Apps share a Redis, the first one delivers
 * and the others wait for its end. Two of them at once would post every note twice, since GitHub takes what it is given.
 */
import { LaneError } from '../../lanes/index.ts';

export interface Seat {
  /** Whether this broker may deliver now. A seat that is free is taken, and kept until it is left or lost. */
  take(): Promise<boolean>;
  /** Whether it is held now; a free one is not taken. */
  held(): boolean;
  /** Right before a write. @throws LaneError `fleet_queue_off_limits` where the seat was lost meanwhile. */
  demand(): void;
  /** Frees it, so that the next one need not wait. */
  leave(): Promise<void>;
}

export interface SeatDeps {
  /** Takes or keeps the seat for so long; answers whether it is ours. */
  take(ttlMs: number): Promise<boolean>;
  leave(): Promise<void>;
}

/** How long effects wait after a broker that died without a word. */
const ttlMs = 10_000;
const renewEveryMs = 3_000;

export function makeSeat(deps: SeatDeps): Seat {
  let untilMs = 0;
  let renewing: NodeJS.Timeout | undefined;

  const held = (): boolean => performance.now() < untilMs;
  const stop = (): void => {
    clearInterval(renewing);
    renewing = undefined;
    untilMs = 0;
  };
  const ask = async (): Promise<boolean> => {
    // Counted from before the question: our end of it comes no later than Redis's.
    const askedAtMs = performance.now();
    const ours = await deps.take(ttlMs);
    if (ours) untilMs = askedAtMs + ttlMs;
    else stop();
    return ours;
  };

  return {
    held,
    async take() {
      if (held()) return true;
      if (!(await ask())) return false;
      // A renewal that fails leaves the seat to run out.
      renewing ??= setInterval(() => void ask().catch(() => {}), renewEveryMs).unref();
      return true;
    },
    demand() {
      if (!held()) throw new LaneError('fleet_queue_off_limits', 'another App delivers on this Redis now');
    },
    async leave() {
      const had = renewing !== undefined;
      stop();
      if (had) await deps.leave();
    },
  };
}
