/** What supervisor and reaper share: their orders, and death at a named point. */
import type { Point } from '../../../lanes/work/workplace.ts';
import type { Death } from '../plan.ts';

/** All supervisors and reapers work under this one name. */
export const instance = 'torture';

/** The order that the harness gave as the only argument. */
export function orderOf<T>(): T {
  return JSON.parse(process.argv[2] ?? '');
}

/** Kills this process when it comes by its point, or shortly after. */
export function fatalPoint(death: Death): Point {
  let passed = 0;
  return (name) => {
    if (death.kind !== 'point' || name !== death.point) return;
    passed += 1;
    if (passed !== death.nth) return;
    if (death.delayMs === 0) process.kill(process.pid, 'SIGKILL');
    else setTimeout(() => process.kill(process.pid, 'SIGKILL'), death.delayMs);
  };
}

/** Tells the harness that the program is up; times of kills count from here. Without the harness it goes, too. */
export function ready(): void {
  process.once('disconnect', () => process.exit(1));
  process.send?.('ready');
}

/** Aborted once the harness wants the process to finish by itself. */
export function drained(): AbortSignal {
  const drain = new AbortController();
  process.once('SIGTERM', () => drain.abort());
  return drain.signal;
}
