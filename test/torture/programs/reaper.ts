/** A reaper: sweeps again and again, until it is killed or told to finish. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { openWorkplace } from '../../../lanes/work/workplace.ts';
import { Chance } from '../chance.ts';
import type { Death } from '../plan.ts';
import { sweeps } from '../sweeps.ts';
import { drained, fatalPoint, instance, orderOf, ready } from './life.ts';

export interface ReaperOrder {
  readonly dataDir: string;
  readonly seed: number;
  readonly death: Death;
}

const { dataDir, seed, death } = orderOf<ReaperOrder>();
const chance = new Chance(seed);
const drain = drained();
const steady = { now: Date.now, id: randomUUID };
const place = await openWorkplace({ dataDir, instance, ...steady, point: fatalPoint(death) });
ready();
while (!drain.aborted) {
  await sweeps.ours(place);
  await pause(chance.between(100, 1_200), undefined, { signal: drain }).catch(() => {});
}
process.exit(0);
