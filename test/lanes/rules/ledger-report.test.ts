import { describe, expect, it } from 'vitest';
import type { ArchivedEvent } from '../../../lanes/records/ledger.ts';
import type { MachineEvent } from '../../../lanes/records/machine-events.ts';
import { LedgerCount, type LedgerReport } from '../../../lanes/rules/ledger-report/index.ts';
import { machine, owner, refused, refusedHere, task } from './ledger-events.ts';

function reportOf(events: readonly (MachineEvent | ArchivedEvent)[]): LedgerReport {
  const count = new LedgerCount();
  for (const event of events) {
    if ('machineId' in event) count.add({ kind: 'machine', event });
    else count.add({ kind: 'archived', event });
  }
  return count.report(['2026-W33']);
}

/** Only what is not zero. */
function some(counts: object): object {
  return Object.fromEntries(Object.entries(counts).filter(([, number]) => number !== 0));
}

const killed = { cause: 'supervisor_killed', detail: 'gone', exitCode: undefined };
const died = (run: number): MachineEvent[] => [
  machine('run_started', run),
  machine('run_exited', run, killed),
];
const noPatch = { reason: 'dead_owner_nothing_started', sha256: null };

describe('runs', () => {
  it('are counted by their outcome; one without an end is told as that', () => {
    const { runs } = reportOf([
      ...[task('claimed', 1), task('died', 1), task('claimed', 2), task('result', 2)],
      ...[task('claimed', 3), task('handed_back', 3), task('claimed', 4), task('lease_expired', 4)],
      ...[task('claimed', 5), task('cancelled', 5), task('claimed', 6)],
    ]);
    const expected = { died: 1, result: 1, handed_back: 1, lease_expired: 1, cancelled: 1, none: 1 };
    expect(some(runs)).toEqual(expected);
  });

  it('that ended by themselves stay what they were when their task is parked or cancelled later', () => {
    const { runs } = reportOf([
      task('claimed', 1),
      task('result', 1),
      task('parked', 1),
      task('cancelled', 1),
    ]);
    expect(some(runs)).toEqual({ result: 1 });
  });

  it('of a task that was never claimed are none', () => {
    expect(some(reportOf([task('admitted', 0), task('cancelled', 0)]).runs)).toEqual({});
  });
});

describe('deaths', () => {
  it('are counted by cause, unattributed among them, and an exit with 0 is none', () => {
    const exit = (run: number, cause: string, exitCode?: number) =>
      machine('run_exited', run, { cause, detail: '', exitCode });
    const { deaths } = reportOf([
      ...[exit(1, 'exit', 0), exit(2, 'exit', 7), exit(3, 'unattributed'), exit(4, 'unattributed')],
      exit(5, 'host_reboot'),
    ]);
    expect(deaths.total).toBe(4);
    expect(some(deaths.byCause)).toEqual({ exit: 1, unattributed: 2, host_reboot: 1 });
    expect(deaths.byCause).toHaveProperty('out_of_memory', 0);
  });

  it('told twice are one, by who saw it', () => {
    const { deaths } = reportOf([
      machine('run_exited', 1, { cause: 'timeout', detail: '', exitCode: undefined }),
      machine('run_exited', 1, killed),
    ]);
    expect(some(deaths.byCause)).toEqual({ timeout: 1 });
  });
});

describe('exits with 0', () => {
  it('are failures where the run did not succeed, and neither where no end is on record', () => {
    const { exits } = reportOf([
      ...[1, 2, 3, 4].flatMap((run) => [machine('run_started', run), machine('run_exited', run)]),
      ...[task('result', 1), task('died', 2), task('unable', 3), machine('run_started', 5)],
    ]);
    expect(exits).toEqual({ zero: 4, zeroFailures: 2, zeroWithoutOutcome: 1, startedWithoutExit: 1 });
  });
});

describe('patches and removals', () => {
  it('are counted by kind with their bytes, and by reason and the reaper that finished them', () => {
    const report = reportOf([
      machine('captured', 1),
      machine('captured', 2, { kind: 'salvage', bytes: 5, partial: true, tornPossible: true }),
      machine('captured', 3, { kind: 'checkpoint', bytes: 1 }),
      machine('captured', 3, { kind: 'checkpoint', bytes: 2 }),
      machine('capture_failed', 4),
      machine('removed', 1),
      machine('removed', 2, { reason: 'dead_owner_salvaged', reapers: [owner('b'), owner('c')] }),
      machine('removal_refused', 4),
    ]);
    expect(report.patches).toEqual({
      result: { patches: 1, bytes: 10, partial: 0, tornPossible: 0 },
      salvage: { patches: 1, bytes: 5, partial: 1, tornPossible: 1 },
      checkpoint: { patches: 1, bytes: 2, partial: 0, tornPossible: 0 },
    });
    expect(report.capturesFailed).toBe(1);
    expect(report.removals).toMatchObject({ total: 2, takenOver: 1, refused: 1 });
    expect(some(report.removals.byReason)).toEqual({ completed: 1, dead_owner_salvaged: 1 });
    expect(report.removals.byReaper.map(({ uuid, removals }) => [uuid, removals])).toEqual([
      ['uuid-a', 1],
      ['uuid-c', 1],
    ]);
  });

  it('of one copy are one, however often a reaper that went on told of it', () => {
    const { removals } = reportOf([
      machine('removed', 1),
      machine('removed', 1, { reapers: [owner('a'), owner('b')] }),
    ]);
    expect(removals).toMatchObject({ total: 1, takenOver: 1 });
  });
});

describe('lost work', () => {
  it('is bounded by 3 / n where none of n runs that died with work lost it', () => {
    const { lostWork } = reportOf([
      ...died(1),
      machine('captured', 1, { kind: 'salvage' }),
      machine('removed', 1, { reason: 'dead_owner_salvaged' }),
      ...[2, 3, 4].flatMap((run) => [...died(run), machine('captured', run, { kind: 'salvage' })]),
    ]);
    expect(lostWork).toMatchObject({ diedWithWork: 4, lost: 0, upperBound95: 0.75 });
  });

  it('is a copy that went without a patch after something had started in it', () => {
    const { lostWork } = reportOf([
      ...[...died(1), machine('removed', 1, noPatch)],
      ...[...died(2), machine('copy_abandoned', 2)],
      ...[...died(3), machine('captured', 3)],
    ]);
    const lost = { diedWithWork: 3, lost: 2, lostCopies: ['c1', 'c2'], upperBound95: null };
    expect(lostWork).toMatchObject(lost);
  });

  it('is none of a copy in which nothing had started', () => {
    const { lostWork } = reportOf([
      ...[machine('copy_created', 1), machine('removed', 1, noPatch)],
      ...[machine('copy_created', 2), machine('copy_abandoned', 2)],
    ]);
    expect(lostWork).toMatchObject({ diedWithWork: 0, lost: 0, upperBound95: null });
  });

  it('is neither what a person gave up, nor what waits, nor what was empty; a checkpoint saves nothing', () => {
    const { lostWork } = reportOf([
      ...[...died(1), machine('removed', 1, { reason: 'removed_by_person', sha256: null })],
      ...[...died(2), machine('quarantined', 2), machine('captured', 2, { kind: 'checkpoint' })],
      ...[...died(3), machine('captured', 3, { bytes: 0 }), machine('removed', 3)],
    ]);
    const kept = { diedWithWork: 0, lost: 0, givenUp: 1, notYetCaptured: 1, nothingToSave: 1 };
    expect(lostWork).toMatchObject(kept);
  });
});

it('refusals are counted by code, and those of the machine apart, because the App has them too', () => {
  const code = 'fleet_queue_off_limits';
  const { refusals, records } = reportOf([
    ...[refused(code), refused(code), refused('lease_lost'), refusedHere(code)],
  ]);
  expect(refusals).toEqual({ app: { [code]: 2, lease_lost: 1 }, machine: { [code]: 1 }, unreadable: 0 });
  expect(records).toEqual({ tasks: 0, machine: 1, refusals: 3 });
});

it('an empty ledger says nothing, and says what it does not show', () => {
  const report = reportOf([]);
  expect(report.lostWork.upperBound95).toBeNull();
  expect(report.notShown.join(' ')).toContain('no record shows a cause');
});
