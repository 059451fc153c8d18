/** What is drawn for each process before it starts: where it dies, and what its agents do. */
import type { Chance } from './chance.ts';

/**
 * How a process is to die. By time: so long after it was up, or after the nth agent of it began, which finds it in the
 * middle of its work however slow the machine is. At a point it kills itself, so that not one instruction comes after.
 */
export type Death =
  | { readonly kind: 'time'; readonly since: 'up' | 'agent'; readonly nth: number; readonly afterMs: number }
  | { readonly kind: 'point'; readonly point: string; readonly nth: number; readonly delayMs: number };

/** How much a supervisor does before it dies, or if it lives. */
export interface Pace {
  /** Runs that it does if nobody kills it. */
  readonly runsEach: number;
  /** The most runs that it does at a time. */
  readonly atOnce: number;
  /** The last of its agents that a death may wait for. */
  readonly latestAgent: number;
}

/** Most of a kill's price is the process that it costs: where kills are counted, each comes early. */
export const briskPace: Pace = { runsEach: 3, atOnce: 2, latestAgent: 1 };

/** Most of a run's price is the cold code of a process that just began: where runs are counted, each does several. */
export const crowdedPace: Pace = { runsEach: 12, atOnce: 4, latestAgent: 9 };

/** The named points that an owner passes. */
export const ownerPoints = [
  'create.locked',
  'create.published',
  'create.pinned',
  'create.copied',
  'run.prespawn',
  'run.spawned',
  'result.begin',
  'result.added',
  'result.streamed',
  'result.synced',
  'result.renamed',
  'result.receipt',
  'captured',
  'rm.tombstoned',
  'rm.renamed',
  'rm.deleted',
  'rm.unpinned',
] as const;

/** The points that a reaper passes. */
export const reaperPoints = [
  'sweep.locked',
  'sweep.quiet',
  'sweep.moved',
  'salvage.begin',
  'salvage.added',
  'salvage.streamed',
  'salvage.synced',
  'salvage.renamed',
  'salvage.receipt',
  'rm.tombstoned',
  'rm.renamed',
  'rm.deleted',
  'rm.unpinned',
] as const;

/** Most kills meet an agent at work; the others the narrow windows around it. */
const byAgent = 0.6;
const byPoint = 0.3;

export function drawOwnerDeath(chance: Chance, { latestAgent }: Pace): Death {
  if (chance.happens(byAgent)) {
    const nth = chance.between(1, latestAgent);
    return { kind: 'time', since: 'agent', nth, afterMs: chance.between(0, 700) };
  }
  return drawDeath(chance, ownerPoints, 600, latestAgent + 1);
}

export function drawReaperDeath(chance: Chance): Death {
  return drawDeath(chance, reaperPoints, 2_000, 3);
}

function drawDeath(
  chance: Chance,
  points: readonly [string, ...string[]],
  longestMs: number,
  latest: number,
): Death {
  if (!chance.happens(byPoint / (1 - byAgent))) {
    return { kind: 'time', since: 'up', nth: 1, afterMs: chance.between(0, longestMs) };
  }
  const delayMs = chance.happens(0.5) ? 0 : chance.between(1, 30);
  return { kind: 'point', point: chance.pick(points), nth: chance.between(1, latest), delayMs };
}

/** A stop of a living process in the middle of whatever it does: unknown means alive. */
export interface Stop {
  readonly afterMs: number;
  readonly forMs: number;
}

export function drawStop(chance: Chance): Stop | null {
  return chance.happens(0.15) ? { afterMs: chance.between(0, 400), forMs: chance.between(50, 500) } : null;
}
