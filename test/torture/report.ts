/** What came of it, in numbers. */
import type { RemovalReason } from '../../lanes/records/copies.ts';
import type { Round } from './round.ts';

export interface Baseline {
  readonly runs: number;
  readonly lostRuns: number;
}

export interface TortureReport {
  /** Of supervisors. */
  readonly kills: number;
  readonly reaperKills: number;
  /** Runs whose agent began to work. */
  readonly runs: number;
  readonly acknowledgedWrites: number;
  readonly lostWrites: number;
  /** Of the chance that a kill which hits unsaved work loses some of it, with 95 % confidence. */
  readonly upperBound95: number;
  readonly removals: { readonly byReason: Readonly<Partial<Record<RemovalReason, number>>> };
  readonly quarantined: number;
  /** Runs of whose end the ledger does not say the cause. */
  readonly unattributed: number;
  readonly leftovers: number;
  readonly leakedPins: number;
  readonly baselines: { readonly prefix: Baseline; readonly pid: Baseline };
}

export interface Tally {
  kills: number;
  reaperKills: number;
  /** Kills that hit unsaved work. */
  hits: number;
  runs: number;
  lostRuns: number;
  acknowledgedWrites: number;
  lostWrites: number;
  byReason: Partial<Record<RemovalReason, number>>;
  quarantined: number;
  unattributed: number;
  leftovers: number;
  leakedPins: number;
}

export function emptyTally(): Tally {
  return {
    ...{ kills: 0, reaperKills: 0, hits: 0, runs: 0, lostRuns: 0, acknowledgedWrites: 0, lostWrites: 0 },
    ...{ byReason: {}, quarantined: 0, unattributed: 0, leftovers: 0, leakedPins: 0 },
  };
}

export function addRound(tally: Tally, round: Round): void {
  tally.kills += round.kills.length;
  tally.reaperKills += round.reaperKills;
  tally.hits += round.hits;
  tally.runs += round.audits.length;
  for (const { writes, lost } of round.audits) {
    tally.acknowledgedWrites += writes.length;
    tally.lostWrites += lost.length;
    if (lost.length > 0) tally.lostRuns += 1;
  }
  for (const [reason, count] of Object.entries(round.byReason) as [RemovalReason, number][]) {
    tally.byReason[reason] = (tally.byReason[reason] ?? 0) + count;
  }
  tally.quarantined += round.quarantined.length;
  tally.unattributed += round.unattributed;
  tally.leftovers += round.leftovers.length;
  tally.leakedPins += round.leakedPins.length;
}

export function toReport(tally: Tally, baselines: TortureReport['baselines']): TortureReport {
  const { hits, lostRuns, byReason, ...counts } = tally;
  const { kills, reaperKills, runs, acknowledgedWrites, lostWrites, ...left } = counts;
  const upperBound95 = upperBound(lostRuns, hits);
  const removals = { byReason };
  return {
    kills,
    reaperKills,
    runs,
    acknowledgedWrites,
    lostWrites,
    upperBound95,
    removals,
    ...left,
    baselines,
  };
}

/** The rule of three where nothing was lost; else the exact bound of Poisson, which says the same at 0. At most 1. */
export function upperBound(lost: number, trials: number): number {
  if (trials === 0) return 1;
  if (lost === 0) return Math.min(1, 3 / trials);
  let [low, high] = [lost, 2 * lost + 10];
  while (high - low > 1e-6) {
    const mean = (low + high) / 2;
    if (poissonAtMost(lost, mean) > 0.05) low = mean;
    else high = mean;
  }
  return Math.min(1, high / trials);
}

function poissonAtMost(count: number, mean: number): number {
  let [term, sum] = [Math.exp(-mean), Math.exp(-mean)];
  for (let k = 1; k <= count; k += 1) {
    term *= mean / k;
    sum += term;
  }
  return sum;
}

/** Whether nothing was lost or left, by a harness that was seen to catch both wrong designs. */
export function holds({ lostWrites, leftovers, leakedPins, baselines }: TortureReport): boolean {
  const bites = baselines.prefix.lostRuns > 0 && baselines.pid.lostRuns > 0;
  return lostWrites === 0 && leftovers === 0 && leakedPins === 0 && bites;
}

/** For people. */
export function table(report: TortureReport): string {
  const { removals, baselines, upperBound95, ...counts } = report;
  const lines: [string, string][] = [
    ...Object.entries(counts).map(([name, count]): [string, string] => [name, String(count)]),
    ['upperBound95', upperBound95.toPrecision(3)],
    ...Object.entries(removals.byReason).map(([name, n]): [string, string] => [
      `removed: ${name}`,
      String(n),
    ]),
    ...Object.entries(baselines).map(([name, { runs, lostRuns }]): [string, string] => [
      `lost by ${name} sweep`,
      `${lostRuns} of ${runs} runs`,
    ]),
  ];
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n');
}
