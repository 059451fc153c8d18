/** Running jobs: in order, paced, and what becomes of those that fail. */
import { failureOf } from '../github/failure.ts';
import type { Desk } from '../hooks/desk/port.ts';
import type { Job } from './jobs.ts';
import type { Pace } from './pace.ts';

const firstRetryMs = 1_000;
const longestRetryMs = 60_000;

export interface Runner {
  /** Runs the jobs of one installation, one after the other; answers how many are off their streams. */
  run(installation: number, jobs: readonly Job[]): Promise<number>;
}

export function makeRunner(desk: Pick<Desk, 'now' | 'log'>, pace: Pace): Runner {
  const tries = new Map<string, { count: number; notBeforeMs: number }>();

  const later = (job: Job): void => {
    const count = (tries.get(job.key)?.count ?? 0) + 1;
    const waitMs = Math.min(firstRetryMs * 2 ** (count - 1), longestRetryMs);
    tries.set(job.key, { count, notBeforeMs: desk.now() + waitMs });
  };

  const perform = async (job: Job): Promise<void> => {
    try {
      await job.deliver();
      pace.succeeded(job.issue.installation);
    } catch (error) {
      const failure = failureOf(error, desk.now());
      if (failure.kind === 'limited' || failure.kind === 'doubt') throw error;
      const particulars = { what: job.what, issue: job.issue.number, error: failure.message };
      desk.log('warn', 'GitHub refused an effect for good', particulars);
      await job.refused(failure);
    }
    await job.ack();
    tries.delete(job.key);
  };

  /** Answers whether the job is off its stream. What failed in doubt, or for a limit, stays. */
  const attempt = async (job: Job): Promise<boolean> => {
    try {
      await perform(job);
      return true;
    } catch (error) {
      const failure = failureOf(error, desk.now());
      const particulars = { what: job.what, issue: job.issue.number, error: failure.message };
      if (failure.kind === 'limited') {
        pace.limit(job.issue.installation, failure.untilMs);
        desk.log('warn', 'GitHub named a limit; effects wait', particulars);
      } else {
        later(job);
        desk.log('warn', 'an effect is tried again', particulars);
      }
      return false;
    }
  };

  return {
    async run(installation, jobs) {
      const blocked = new Set<string>();
      let done = 0;
      for (const job of jobs) {
        if (pace.limitedUntilMs(installation) > desk.now()) break;
        if (blocked.has(job.order)) continue;
        const waits = (tries.get(job.key)?.notBeforeMs ?? 0) > desk.now();
        if (!waits && (await attempt(job))) done += 1;
        else blocked.add(job.order);
      }
      return done;
    },
  };
}
