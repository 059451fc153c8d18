import { describe, expect, it } from 'vitest';
import { crowdedPace } from './plan.ts';
import { holds, type TortureReport, table, upperBound } from './report.ts';
import { runTorture } from './torture.ts';

describe('the bound', () => {
  it('is three in the number of kills that hit unsaved work, where nothing was lost', () => {
    expect(upperBound(0, 300)).toBe(0.01);
  });

  it('is at most 1, and 1 where nothing was tried', () => {
    expect([upperBound(0, 0), upperBound(0, 2), upperBound(9, 10)]).toEqual([1, 1, 1]);
  });

  it('is the exact one of Poisson where something was lost', () => {
    expect(upperBound(1, 1_000) * 1_000).toBeCloseTo(4.744, 2);
    expect(upperBound(10, 1_000) * 1_000).toBeCloseTo(16.962, 2);
  });
});

describe('a report', () => {
  const good: TortureReport = {
    ...{ kills: 9, reaperKills: 9, runs: 9, acknowledgedWrites: 9, lostWrites: 0, upperBound95: 0.3 },
    ...{
      removals: { byReason: { completed: 9 } },
      quarantined: 1,
      unattributed: 1,
      leftovers: 0,
      leakedPins: 0,
    },
    baselines: { prefix: { runs: 9, lostRuns: 3 }, pid: { runs: 9, lostRuns: 3 } },
  };

  it('is good only where nothing was lost or left and both wrong designs were caught', () => {
    expect(holds(good)).toBe(true);
    const none = { runs: 9, lostRuns: 0 };
    const bad: Partial<TortureReport>[] = [
      ...[{ lostWrites: 1 }, { leftovers: 1 }, { leakedPins: 1 }],
      ...[
        { baselines: { ...good.baselines, pid: none } },
        { baselines: { ...good.baselines, prefix: none } },
      ],
    ];
    for (const change of bad) expect(holds({ ...good, ...change })).toBe(false);
  });

  it('has every number in its table', () => {
    expect(table(good)).toContain('lost by prefix sweep  3 of 9 runs');
    expect(table(good)).toMatch(/^removed: completed +9$/m);
  });
});

it('runs under random kills of supervisors and reapers lose nothing', async () => {
  const said: string[] = [];
  const say = (line: string) => void said.push(line);
  const until = { kills: 30, runs: 200 };
  const enough = { until, pace: crowdedPace, baselineKills: 4 };
  const report = await runTorture({ ...enough, seed: 1, jobs: 2, say });
  expect(report, said.join('\n')).toMatchObject({ lostWrites: 0, leftovers: 0, leakedPins: 0 });
  expect(report.runs).toBeGreaterThanOrEqual(until.runs);
  expect(report.kills).toBeGreaterThanOrEqual(until.kills);
  expect(report.reaperKills).toBeGreaterThan(5);
  expect(report.acknowledgedWrites).toBeGreaterThan(report.runs);
  expect(report.baselines.prefix.lostRuns).toBeGreaterThan(0);
  expect(report.baselines.pid.lostRuns).toBeGreaterThan(0);
}, 900_000);
