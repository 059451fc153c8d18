/**
 * Torture: thousands of forced deaths, and not one acknowledged write lost. The same work and the same deaths under the
 * two wrong designs show that the harness would see it.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { probeContainment } from '../../lanes/work/containment.ts';
import { bundlePrograms, type Programs } from './bundle.ts';
import { Chance } from './chance.ts';
import type { Pace } from './plan.ts';
import { addRound, emptyTally, type TortureReport, toReport } from './report.ts';
import { type Round, type RoundOptions, runRound } from './round.ts';

export interface TortureOptions {
  /** There was enough when both were reached. */
  readonly until: { readonly kills: number; readonly runs: number };
  readonly pace: Pace;
  /** Kills in a storm under a wrong design. */
  readonly baselineKills: number;
  readonly seed: number;
  /** Supervisors at a time, at least two. */
  readonly jobs: number;
  readonly say: (line: string) => void;
}

/** A data folder is audited and thrown away after so many kills: what went wrong shows early, and disk is bounded. */
const killsPerRound = 150;

/** A wrong design that loses nothing in a storm was lucky; one that loses nothing in so many is not seen to fail. */
const baselineStorms = 4;

export async function runTorture(options: TortureOptions): Promise<TortureReport> {
  const folder = await mkdtemp(join(tmpdir(), 'lanekeeper-torture-programs-'));
  try {
    const programs = await bundlePrograms(folder);
    const levels = (await probeContainment(folder)).map(({ level }) => level);
    return await throughRounds(options, programs, levels);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function throughRounds(
  { until, pace, baselineKills, seed, jobs, say }: TortureOptions,
  programs: Programs,
  levels: readonly string[],
): Promise<TortureReport> {
  const chance = new Chance(seed);
  const common = { programs, chance, levels, pace, supervisors: Math.max(2, jobs) };
  const tally = emptyTally();
  const reached = (kills: number, runs: number) => kills >= until.kills && runs >= until.runs;
  while (!reached(tally.kills, tally.runs)) {
    const { kills, runs } = tally;
    const enough: RoundOptions['enough'] = (killed, begun) =>
      killed >= killsPerRound || reached(kills + killed, runs + begun);
    const round = await runRound({ ...common, sweep: 'ours', reapers: 1, enough });
    addRound(tally, round);
    for (const trouble of troublesOf(round)) say(trouble);
    say(
      `${tally.kills} kills, ${tally.reaperKills} of reapers, ${tally.runs} runs, ${tally.lostWrites} lost writes`,
    );
  }
  const baseline = async (sweep: 'prefix' | 'pid') => {
    const enough: RoundOptions['enough'] = (killed) => killed >= baselineKills;
    let [runs, lostRuns] = [0, 0];
    for (let storm = 0; storm < baselineStorms && lostRuns === 0; storm += 1) {
      const { audits } = await runRound({ ...common, sweep, reapers: 0, enough });
      runs += audits.length;
      lostRuns += audits.filter(({ lost }) => lost.length > 0).length;
    }
    say(`${sweep}: ${lostRuns} of ${runs} runs lost work`);
    return { runs, lostRuns };
  };
  return toReport(tally, { prefix: await baseline('prefix'), pid: await baseline('pid') });
}

/** What a person has to look at, each by its name: the data folder is thrown away. */
function troublesOf({ audits, leftovers, leakedPins, quarantined }: Round): string[] {
  const lost = audits.flatMap(({ task, lost: writes }) => writes.map(({ path }) => `lost: ${task} ${path}`));
  const told = (what: string, names: readonly string[]) => names.map((name) => `${what}: ${name}`);
  return [
    ...lost,
    ...told('left', leftovers),
    ...told('pinned', leakedPins),
    ...told('quarantined', quarantined),
  ];
}
