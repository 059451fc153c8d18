/** Retry: how long a task waits after a run that died, and whether it may run again. */

const firstWaitMs = 10_000;
const longestWaitMs = 600_000;

/** The wait after the `runsUsed`th death: 10 s, doubling, at most 10 min. In milliseconds. */
export function backoffMs(runsUsed: number): number {
  const doublings = Math.min(Math.max(runsUsed - 1, 0), 10);
  return Math.min(firstWaitMs * 2 ** doublings, longestWaitMs);
}

/** Whether a task that has used `runsUsed` runs since it was last resumed may have another. */
export function mayRunAgain(runsUsed: number, maxRuns: number): boolean {
  return runsUsed < maxRuns;
}
