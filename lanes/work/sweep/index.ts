/**
 * The sweep: finds copies whose owner is dead, and takes them away without losing anything of them. The reaper is the
 * workplace's owner. Any number of sweeps may run at once, in any processes: a copy's lock lets one of them at it.
 */
import type { CopyRecord, RemovalReason } from '../../records/copies.ts';
import type { SweepStep } from '../../rules/sweep.ts';
import { finishLeftOver } from '../left-over.ts';
import type { Workplace } from '../workplace.ts';
import { carryOut, type Ending } from './carry-out.ts';
import { type HeldLocks, readHeldLocks } from './held-locks.ts';
import { type Look, lookAt } from './look.ts';
import { type Entry, scanCopies } from './scan.ts';

export interface SweepDeps {
  readonly place: Workplace;
  /** Ends the sweep before the next copy. */
  readonly signal?: AbortSignal;
}

/** What would be done with one copy, and why. */
export interface SweepFinding {
  readonly id: string;
  /** Null where it cannot be read, or where nothing has one. */
  readonly record: CopyRecord | null;
  readonly step: SweepStep;
  readonly why: string;
}

export interface SweepOutcome extends SweepFinding {
  /** `cleared`: it was no copy, or none any more. `failed`: it is kept, and the next sweep tries again. */
  readonly outcome: Ending['kind'] | 'failed';
  /** Of a removal. */
  readonly reason?: RemovalReason;
  /** Of a removal: the patch that holds its work. */
  readonly patchSha256?: string | null;
  /** Why it failed, or came to another end than was found. */
  readonly error?: string;
}

/**
 * One look at everything that lies in copies/: what would be done with each and why. Changes nothing; takes and frees
 * each free owner lock for a moment. Throws where the folders cannot be read.
 */
export async function planSweep(deps: SweepDeps): Promise<SweepFinding[]> {
  const { entries, strangers } = await scanCopies(deps.place);
  const held = await readHeldLocks();
  const findings: SweepFinding[] = [];
  for (const entry of entries) {
    if (deps.signal?.aborted) return findings;
    const finding = await planOne(deps.place, entry, held);
    if (finding) findings.push(finding);
  }
  return [
    ...findings,
    ...strangers.map(({ id, why }) => ({ id, record: null, step: 'report' as const, why })),
  ];
}

/**
 * Carries out: every finding through to its end. Never throws for one copy: its trouble is its outcome. Throws where
 * the folders cannot be read.
 */
export async function sweepCopies(deps: SweepDeps): Promise<SweepOutcome[]> {
  await finishLeftOver(deps.place);
  const { entries, strangers } = await scanCopies(deps.place);
  const held = await readHeldLocks();
  const outcomes: SweepOutcome[] = [];
  for (const entry of entries) {
    if (deps.signal?.aborted) return outcomes;
    const outcome = await sweepOne(deps.place, entry, held);
    if (outcome) outcomes.push(outcome);
  }
  for (const { id, why } of strangers) {
    outcomes.push({ id, record: null, step: 'report', why, outcome: 'reported' });
  }
  return outcomes;
}

async function planOne(place: Workplace, entry: Entry, held: HeldLocks): Promise<SweepFinding | null> {
  try {
    const look = await lookAt(place, entry, held);
    await look?.lock?.release();
    return look && findingOf(look);
  } catch {
    return unseen(entry);
  }
}

async function sweepOne(place: Workplace, entry: Entry, held: HeldLocks): Promise<SweepOutcome | null> {
  let look: Look | null = null;
  let finding = unseen(entry);
  try {
    look = await lookAt(place, entry, held);
    if (look === null) return null;
    finding = findingOf(look);
    const ending = await carryOut(place, look);
    if (ending.kind !== 'removed') {
      // The finding stays what a plan says; what came in between is told beside it.
      const more = ending.why === finding.why ? {} : { error: ending.why };
      return { ...finding, ...more, outcome: ending.kind };
    }
    const { reason, receipt } = ending.tombstone;
    return { ...finding, outcome: 'removed', reason, patchSha256: receipt?.sha256 ?? null };
  } catch (error) {
    return { ...finding, outcome: 'failed', error: error instanceof Error ? error.message : String(error) };
  } finally {
    await look?.lock?.release();
  }
}

function unseen({ id }: Entry): SweepFinding {
  return { id, record: null, step: 'report', why: 'it cannot be looked at' };
}

function findingOf({ entry, record, decision }: Look): SweepFinding {
  return { id: entry.id, record, ...decision };
}
