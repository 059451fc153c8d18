/**
 * A worker's duty towards copies whose owner died: a sweep before it serves, then one every minute for as long as it
 * lives. A sweep that fails is told and comes again; it never ends the worker. What stays as it was is told once.
 */
import type { Logger } from 'pino';
import { type SweepOutcome, sweepCopies, type Workplace } from '../lanes/index.ts';
import { deferred } from './deferred.ts';
import { makeLoop } from './loop.ts';

export interface SweepDuty {
  readonly place: Workplace;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Ends the duty: the copy in hand is swept to its end, and no other is begun. */
  readonly stop: AbortSignal;
  /** From the end of a sweep to the next, in ms. */
  readonly everyMs?: number;
}

export interface KeptSwept {
  /** Resolves when no sweep runs any more. */
  readonly ended: Promise<void>;
}

const usualEveryMs = 60_000;

/** Sweeps until `stop` aborts. Resolves after the first sweep, however it ended. */
export async function keepSwept(duty: SweepDuty): Promise<KeptSwept> {
  const { place, log, stop, everyMs = usualEveryMs } = duty;
  if (stop.aborted) return { ended: Promise.resolve() };
  const first = deferred<void>();
  const tell = makeTeller(log);
  const round = async (): Promise<void> => {
    try {
      tell(await sweepCopies({ place, signal: stop }));
    } finally {
      first.resolve();
    }
  };
  const loop = makeLoop(round, everyMs, (error) => log.error({ err: error }, 'a sweep of the copies failed'));
  const ended = new Promise<void>((resolve) => {
    stop.addEventListener('abort', () => resolve(loop.stop()), { once: true });
  });
  loop.start();
  await first.promise;
  return { ended };
}

/** Tells of each sweep what the one before it did not tell already. */
function makeTeller(log: SweepDuty['log']): (outcomes: readonly SweepOutcome[]) => void {
  let told = new Set<string>();
  return (outcomes) => {
    const now = new Set<string>();
    for (const outcome of outcomes) {
      const key = `${outcome.outcome} ${outcome.id}`;
      now.add(key);
      if (!told.has(key)) tellOne(log, outcome);
    }
    told = now;
  };
}

function tellOne(log: SweepDuty['log'], outcome: SweepOutcome): void {
  const { id, record, why, reason, patchSha256, error } = outcome;
  const about = { copy: id, task: record?.task, run: record?.run, why, error };
  switch (outcome.outcome) {
    case 'live':
    case 'cleared':
      return;
    case 'removed':
      log.info({ ...about, reason, patchSha256 }, `a dead owner's copy was removed; ${remainOf(outcome)}`);
      return;
    case 'quarantined':
      log.warn(about, 'a copy is in quarantine until a person decides: see `lanekeeper copies`');
      return;
    case 'reported':
      log.warn(about, 'a copy is kept, and a person should look at it: see `lanekeeper copies`');
      return;
    case 'failed':
      log.error(about, 'a copy could not be swept; it is kept, and tried again');
  }
}

function remainOf({ patchSha256 = null }: SweepOutcome): string {
  return patchSha256 === null ? 'nothing was ever started in it' : 'its work is in the outbox';
}
