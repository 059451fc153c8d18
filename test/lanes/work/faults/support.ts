/** What the tests of faults share: a checkpoint clock that the test moves, and looks at a run's processes. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deferred } from '../../../../app/deferred.ts';
import type { MachineEvent } from '../../../../lanes/records/machine-events.ts';
import type { CheckpointPace } from '../../../../lanes/work/checkpoints.ts';
import type { Workplace } from '../../../../lanes/work/workplace.ts';
import { until } from '../../../support/until.ts';

export interface Stepper {
  readonly pace: CheckpointPace;
  /** Lets the next checkpoint be taken, waits for its end, and answers how long the loop would wait after it. */
  step(): Promise<number>;
  /** The run has stood still for as long as it may. */
  reachBound(): void;
}

const maxFrozenMs = 77;

/** A pace that waits for the test instead of the clock. */
export function makeStepper(): Stepper {
  let asleep = deferred<number>();
  let wake = () => {};
  let reachBound = () => {};
  const sleep: CheckpointPace['sleep'] = (ms, signal) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      if (signal.aborted) resolve();
      if (ms === maxFrozenMs) reachBound = resolve;
      else {
        wake = resolve;
        asleep.resolve(ms);
      }
    });
  const step = async () => {
    await asleep.promise;
    asleep = deferred<number>();
    wake();
    return await asleep.promise;
  };
  return { pace: { everyMs: 1_000, maxFrozenMs, sleep }, step, reachBound: () => reachBound() };
}

/** The state letters (proc(5)) of the living processes that carry a run's marker. */
export function statesOf(marker: string): string[] {
  const states: string[] = [];
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
      if (!environment.includes(`LANEKEEPER_RUN=${marker}`)) continue;
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      states.push(stat.charAt(stat.lastIndexOf(')') + 2));
    } catch {
      // It is gone.
    }
  }
  return states.filter((state) => state !== 'Z' && state !== 'X');
}

export function eventsOf(place: Workplace): MachineEvent[] {
  const folder = join(place.dataDir, 'ledger');
  return readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as MachineEvent),
  );
}

/** Waits until a file of a run is there. */
export async function untilThere(...path: string[]): Promise<void> {
  await until(`${path.at(-1)} is there`, async () => existsSync(join(...path)));
}
