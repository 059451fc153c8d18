/**
 * A supervisor host: a few runs at a time, each by the product's `superviseRun`, and a sweep as it starts, as a worker
 * does. Only the host port, the edge to GitHub, is a stand-in.
 */
import { randomUUID } from 'node:crypto';
import { type Containment, candidates } from '../../../lanes/work/containment.ts';
import type { SupervisorDeps } from '../../../lanes/work/run-room.ts';
import { superviseRun } from '../../../lanes/work/supervisor.ts';
import { openWorkplace } from '../../../lanes/work/workplace.ts';
import { Chance } from '../chance.ts';
import type { Death } from '../plan.ts';
import { type SweepKind, sweeps } from '../sweeps.ts';
import { drained, fatalPoint, instance, orderOf, ready } from './life.ts';
import { orderFor, runInput } from './run-order.ts';

export interface SupervisorOrder {
  readonly dataDir: string;
  readonly remote: string;
  /** Path of the agent's program. */
  readonly agent: string;
  readonly truthPort: number;
  /** Its number: its tasks are named after it. */
  readonly number: number;
  readonly seed: number;
  /** How many runs it does if nobody kills it, and how many at a time. */
  readonly runs: number;
  readonly concurrency: number;
  readonly sweep: SweepKind;
  readonly death: Death;
  /** Levels of containment that were seen to hold on this machine. */
  readonly levels: readonly string[];
}

const order = orderOf<SupervisorOrder>();
const chance = new Chance(order.seed);
const drain = drained();
const { dataDir } = order;
const steady = { now: Date.now, id: randomUUID };
const place = await openWorkplace({ dataDir, instance, ...steady, point: fatalPoint(order.death) });
const known = (await candidates()).filter(({ level }) => order.levels.includes(level));
/** Without even the kernel's signal at the death of a parent: the agent goes on until a reaper ends it. */
const bare: Containment = {
  level: 'none',
  contain: async ({ argv: [file = '', ...args], env, cwd }) => ({ file, args, env: { ...env }, cwd }),
};
ready();

/** Containment kills its agent with the supervisor, and doubles a run's price: most runs go without. */
function drawLevel(): Containment {
  const [strongest, weaker] = known;
  if (weaker !== undefined && chance.happens(0.02)) return weaker;
  return strongest !== undefined && chance.happens(0.15) ? strongest : bare;
}

function depsWith(level: Containment): SupervisorDeps {
  return {
    ...{ place, levels: [level], hide: [], graceMs: 200, networkEnv: {}, promptTemplate: 'Work.' },
    host: {
      allowed: async () => ({ allowed: true, input: runInput(order.remote) }),
      lookUp: async () => ({ found: false, how: 'there is nothing here' }),
    },
    begin: async () => {},
    worker: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  };
}

async function work(): Promise<void> {
  while (begun < order.runs && !drain.aborted) {
    begun += 1;
    const task = `torture${String(order.number).padStart(6, '0')}n${begun}`;
    const level = drawLevel();
    const [writes, pauseMs] = [chance.between(3, 8), chance.between(10, 90)];
    const argv = ['/bin/bash', order.agent, order.truthPort, task, writes, pauseMs].map(String);
    await superviseRun(depsWith(level), orderFor(task, argv, level.level));
  }
}

let begun = 0;
// Not waited for: a sweep overlaps the runs that begin meanwhile.
const sweeping = sweeps[order.sweep](place);
await Promise.all([sweeping, ...Array.from({ length: order.concurrency }, work)]);
process.exit(0);
