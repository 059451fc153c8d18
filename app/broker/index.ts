/**
 * The broker: effects -> GitHub. It reads what has been decided and not yet delivered, and delivers it in order for
 * each task, paced for each installation. What fails in doubt or for a limit stays and is tried again; nothing is
 * dropped that GitHub might still take.
 */

import { githubNamespace } from '../../lanes/index.ts';
import { type Loop, makeLoop } from '../loop.ts';
import { makeCloser } from './close.ts';
import { type Job, waitingJobs } from './jobs.ts';
import { makeLooseDelivery } from './loose.ts';
import { makePace, type Pace } from './pace.ts';
import type { BrokerDeps } from './port.ts';
import { makePoster } from './post.ts';
import { makeRunner } from './runner.ts';
import { makeSeat, type Seat } from './seat.ts';

export interface Broker extends Loop {
  /** One pass over all that waits; answers how many effects were delivered or given up. */
  runOnce(): Promise<number>;
  /** Whether this is the broker that delivers now, of all Apps on this Redis. */
  seated(): boolean;
}

const idleMs = 250;
/** The extra rest after a pass in which everything that waits had to go on waiting: a limit can last an hour. */
const stuckMs = 1_750;

function byInstallation(jobs: readonly Job[]): Map<number, Job[]> {
  const grouped = new Map<number, Job[]>();
  for (const job of jobs) {
    const { installation } = job.issue;
    const group = grouped.get(installation);
    if (group) group.push(job);
    else grouped.set(installation, [job]);
  }
  return grouped;
}

/** The pace of a broker that writes only from its seat, also where it waited long for its turn. */
function seated(pace: Pace, seat: Seat): Pace {
  return {
    ...pace,
    async turn(installation) {
      await pace.turn(installation);
      seat.demand();
    },
  };
}

export function createBroker(deps: BrokerDeps): Broker {
  const { desk, engine, holder } = deps;
  const seat = makeSeat({
    take: (ttlMs) => engine.drainer.take(desk.caller(githubNamespace), holder, ttlMs),
    leave: () => engine.drainer.leave(desk.caller(githubNamespace), holder),
  });
  const pace = seated(makePace({ now: desk.now, sleep: deps.sleep }), seat);
  const poster = makePoster(deps, pace);
  const closer = makeCloser(deps, poster, pace);
  const loose = makeLooseDelivery(deps, poster, pace);
  const runner = makeRunner(desk, pace);

  let waiting = 0;
  const runOnce = async (): Promise<number> => {
    waiting = 0;
    if (!(await seat.take())) return 0;
    await poster.sweepTwins();
    const jobs = await waitingJobs(deps, { poster, closer, loose });
    waiting = jobs.length;
    const runs = [...byInstallation(jobs)].map(([installation, own]) => runner.run(installation, own));
    return (await Promise.all(runs)).reduce((sum, count) => sum + count, 0);
  };

  const round = async (): Promise<void> => {
    const done = await runOnce();
    if (done === 0 && waiting > 0) await deps.sleep(stuckMs);
  };
  const onError = (error: unknown): void => desk.log('error', 'the broker failed', { error: String(error) });
  const loop = makeLoop(round, idleMs, onError);
  const stop = async (): Promise<void> => {
    await loop.stop();
    await seat.leave();
  };
  return { runOnce, seated: seat.held, ...loop, stop };
}
