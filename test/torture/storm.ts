/**
 * The storm: supervisors under one name on one data folder, reapers beside them, and death for both. Where one dies,
 * another starts, and sweeps, while the agents of the dead one may still write. It ends when there was enough of it, and
 * everybody who is left finishes.
 */
import type { Programs } from './bundle.ts';
import type { Chance } from './chance.ts';
import { drawOwnerDeath, drawReaperDeath, drawStop, type Pace } from './plan.ts';
import type { ReaperOrder } from './programs/reaper.ts';
import type { SupervisorOrder } from './programs/supervisor.ts';
import type { SweepKind } from './sweeps.ts';
import type { Truth } from './truth.ts';
import { Victim, type VictimEnd } from './victim.ts';

export interface StormOptions {
  readonly programs: Programs;
  readonly dataDir: string;
  readonly remote: string;
  readonly truth: Truth;
  readonly chance: Chance;
  readonly levels: readonly string[];
  readonly sweep: SweepKind;
  readonly pace: Pace;
  /** How many supervisors live at a time. */
  readonly supervisors: number;
  /** Reapers at a time; the wrong designs sweep only at the start of a supervisor, and have none. */
  readonly reapers: number;
  /** Asked before each process: whether there was enough. */
  readonly enough: (kills: number, runs: number) => boolean;
}

/** A kill of the supervisor with this number; its tasks are named after it. */
export interface SupervisorKill {
  readonly number: number;
  readonly atMs: number;
}

export interface Storm {
  readonly kills: readonly SupervisorKill[];
  readonly reaperKills: number;
}

export async function runStorm(options: StormOptions): Promise<Storm> {
  const { chance, truth, programs, pace } = options;
  const kills: SupervisorKill[] = [];
  const alive = new Set<Victim>();
  const byNumber = new Map<number, Victim>();
  truth.onBegin = (task) => byNumber.get(supervisorOf(task))?.agentBegan();
  let [reaperKills, number, ending] = [0, 0, false];

  /** One after the other, until there was enough. */
  const inTurn = async (start: () => readonly [Victim, (end: VictimEnd) => void]): Promise<void> => {
    while (!ending) {
      const [victim, note] = start();
      alive.add(victim);
      const end = await victim.ended.finally(() => alive.delete(victim));
      if (end.killed) note(end);
      if (!options.enough(kills.length, truth.tasks.size)) continue;
      ending = true;
      for (const left of alive) left.drain();
    }
  };

  const supervisor = () => {
    number += 1;
    const mine = number;
    const order: SupervisorOrder = {
      ...{ dataDir: options.dataDir, remote: options.remote, levels: options.levels, sweep: options.sweep },
      ...{ agent: programs.agent, truthPort: truth.port, number, seed: seedFrom(chance) },
      ...{ runs: pace.runsEach, concurrency: chance.between(1, pace.atOnce) },
      death: drawOwnerDeath(chance, pace),
    };
    const victim = new Victim({ program: programs.supervisor, order, stop: drawStop(chance) });
    byNumber.set(mine, victim);
    return [victim, ({ atMs }: VictimEnd) => void kills.push({ number: mine, atMs })] as const;
  };

  const reaper = () => {
    const death = drawReaperDeath(chance);
    const order: ReaperOrder = { dataDir: options.dataDir, seed: seedFrom(chance), death };
    const victim = new Victim({ program: programs.reaper, order, stop: drawStop(chance) });
    return [
      victim,
      () => {
        reaperKills += 1;
      },
    ] as const;
  };

  try {
    await Promise.all([
      ...Array.from({ length: options.supervisors }, () => inTurn(supervisor)),
      ...Array.from({ length: options.reapers }, () => inTurn(reaper)),
    ]);
  } finally {
    for (const left of alive) left.abandon();
  }
  return { kills, reaperKills };
}

/** The number of the supervisor that a task was given to. */
export function supervisorOf(task: string): number {
  return Number(/^torture(\d+)n\d+$/.exec(task)?.[1]);
}

function seedFrom(chance: Chance): number {
  return chance.between(0, 0xffff_ffff);
}
