/** Counts of a machine's events. */
import {
  type CaptureKind,
  captureKindSchema,
  type RemovalReason,
  removalReasonSchema,
} from '../../records/copies.ts';
import type { RefusalCode } from '../../records/ledger.ts';
import { type DeathCause, deathCauseSchema, type MachineEvent } from '../../records/machine-events.ts';
import { Copies, type CopyEvent } from './copies.ts';
import { Tally } from './tally.ts';
import type { LedgerReport, PatchCount, ReaperCount } from './types.ts';

type MachineCounts = Pick<
  LedgerReport,
  'deaths' | 'killIntents' | 'patches' | 'capturesFailed' | 'removals' | 'quarantines'
>;

export class Machine {
  readonly copies = new Copies();
  readonly refusals = new Tally<RefusalCode>();
  readonly #events = new Tally<MachineEvent['event']>();

  add(event: MachineEvent): void {
    this.#events.add(event.event);
    if ('copy' in event) this.copies.add(event);
    if (event.event === 'refused') this.refusals.add(event.code);
  }

  report(): MachineCounts {
    const told = this.#events;
    return {
      deaths: deathCounts(this.copies),
      killIntents: { ofRuns: told.of('kill_intent'), ofWorkers: told.of('worker_kill_intent') },
      patches: patchCounts(this.copies),
      capturesFailed: told.of('capture_failed'),
      removals: { ...removalCounts(this.copies.removals()), refused: told.of('removal_refused') },
      quarantines: {
        quarantined: told.of('quarantined'),
        released: told.of('released'),
        exported: told.of('exported'),
      },
    };
  }
}

function deathCounts(copies: Copies): LedgerReport['deaths'] {
  const causes = new Tally<DeathCause>();
  for (const { cause } of copies.deaths()) causes.add(cause);
  return { total: causes.total(), byCause: causes.all(deathCauseSchema.options) };
}

function patchCounts(copies: Copies): LedgerReport['patches'] {
  const patches = copies.patches();
  const counts = captureKindSchema.options.map((kind) => {
    const own = patches.filter((patch) => patch.kind === kind);
    const count: PatchCount = {
      patches: own.length,
      bytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
      partial: own.filter(({ partial }) => partial).length,
      tornPossible: own.filter(({ tornPossible }) => tornPossible).length,
    };
    return [kind, count] as const;
  });
  return Object.fromEntries(counts) as Record<CaptureKind, PatchCount>;
}

function removalCounts(
  removals: readonly Extract<CopyEvent, { event: 'removed' }>[],
): Omit<LedgerReport['removals'], 'refused'> {
  const reasons = new Tally<RemovalReason>();
  const reapers = new Map<string, ReaperCount>();
  for (const { reason, reapers: named } of removals) {
    reasons.add(reason);
    const last = named.at(-1);
    if (last === undefined) continue;
    const { uuid, instance, machineId } = last;
    reapers.set(uuid, { uuid, instance, machineId, removals: (reapers.get(uuid)?.removals ?? 0) + 1 });
  }
  return {
    total: removals.length,
    byReason: reasons.all(removalReasonSchema.options),
    byReaper: [...reapers.values()].sort((a, b) => b.removals - a.removals || (a.uuid < b.uuid ? -1 : 1)),
    takenOver: removals.filter(({ reapers: named }) => named.length > 1).length,
  };
}
