/**
 * Pacing by installation. GitHub asks for at least one second between writes, and for silence when it names a limit:
 * whoever keeps on is banned.
 */
export interface Pace {
  /** Waits until this installation may write again, at most a second. Call it right before a write. */
  turn(installation: number): Promise<void>;
  /** GitHub named a limit. `untilMs` null: 60 s, doubling while it goes on. */
  limit(installation: number, untilMs: number | null): void;
  /** A write went through: the doubling starts anew. */
  succeeded(installation: number): void;
  /** Until when nothing may be asked, in Unix milliseconds; 0 when nothing holds it back. */
  limitedUntilMs(installation: number): number;
}

export interface PaceDeps {
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

/** GitHub's second, and some room for requests that take unequal times to get there. */
const betweenWritesMs = 1_050;
const firstSilenceMs = 60_000;
const longestSilenceMs = 3_600_000;

interface Lane {
  nextWriteMs: number;
  untilMs: number;
  silenceMs: number;
}

export function makePace({ now, sleep }: PaceDeps): Pace {
  const lanes = new Map<number, Lane>();
  const laneOf = (installation: number): Lane => {
    const found = lanes.get(installation);
    if (found) return found;
    const fresh = { nextWriteMs: 0, untilMs: 0, silenceMs: firstSilenceMs };
    lanes.set(installation, fresh);
    return fresh;
  };
  return {
    async turn(installation) {
      const lane = laneOf(installation);
      const startMs = Math.max(now(), lane.nextWriteMs);
      lane.nextWriteMs = startMs + betweenWritesMs;
      const waitMs = startMs - now();
      if (waitMs > 0) await sleep(waitMs);
    },
    limit(installation, untilMs) {
      const lane = laneOf(installation);
      lane.untilMs = Math.max(lane.untilMs, untilMs ?? now() + lane.silenceMs);
      if (untilMs === null) lane.silenceMs = Math.min(lane.silenceMs * 2, longestSilenceMs);
    },
    succeeded(installation) {
      laneOf(installation).silenceMs = firstSilenceMs;
    },
    limitedUntilMs: (installation) => laneOf(installation).untilMs,
  };
}
