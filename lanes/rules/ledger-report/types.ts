/** What the ledger's report is made from, and what it says. All numbers are counts of records. */
import type { CaptureKind, RemovalReason } from '../../records/copies.ts';
import type { ArchivedEvent, RefusalCode, TaskEvent } from '../../records/ledger.ts';
import type { DeathCause, MachineEvent } from '../../records/machine-events.ts';

/** A line that is no event known here. */
export interface DamagedLine {
  /** From the folder that was read. */
  readonly file: string;
  readonly line: number;
  /** `torn`: the last line of its file, cut short. `unknown`: JSON, but no event of this version. */
  readonly why: 'torn' | 'damaged' | 'unknown';
}

export type LedgerRecord =
  | { readonly kind: 'machine'; readonly event: MachineEvent }
  | { readonly kind: 'archived'; readonly event: ArchivedEvent }
  | { readonly kind: 'damaged'; readonly line: DamagedLine };

/** How a run ended, by its task's ledger; `none` where these records have no end of it. */
export type RunOutcome =
  | 'result'
  | 'died'
  | 'unable'
  | 'handed_back'
  | 'taken_back'
  | 'lease_expired'
  | 'parked'
  | 'cancelled'
  | 'none';

export interface PatchCount {
  readonly patches: number;
  readonly bytes: number;
  /** Those with something of the copy that the patch does not hold. */
  readonly partial: number;
  readonly tornPossible: number;
}

export interface ReaperCount {
  readonly uuid: string;
  readonly instance: string;
  readonly machineId: string;
  readonly removals: number;
}

export interface LostWork {
  /** Runs that died and whose unsaved work was captured, or is lost. */
  readonly diedWithWork: number;
  /** Copies in which something was started, and which went without a patch that holds their work. */
  readonly lost: number;
  /** Some of them. */
  readonly lostCopies: readonly string[];
  /** The chance, for one run that dies with unsaved work, that it is lost: below this with 95 %. Null where it cannot be said. */
  readonly upperBound95: number | null;
  /** Died, and their capture found nothing. */
  readonly nothingToSave: number;
  /** Died, and their copy is neither captured nor gone. */
  readonly notYetCaptured: number;
  /** A person removed them without a patch. */
  readonly givenUp: number;
}

export interface LedgerReport {
  readonly weeks: readonly string[];
  readonly records: { readonly tasks: number; readonly machine: number; readonly refusals: number };
  readonly damaged: { readonly lines: number; readonly first: readonly DamagedLine[] };
  readonly taskEvents: Readonly<Record<TaskEvent['event'], number>>;
  readonly runs: Readonly<Record<RunOutcome, number>>;
  readonly deaths: { readonly total: number; readonly byCause: Readonly<Record<DeathCause, number>> };
  readonly exits: {
    readonly zero: number;
    /** Exited with 0, and the run did not succeed. */
    readonly zeroFailures: number;
    /** Exited with 0, and these records have no end of the run. */
    readonly zeroWithoutOutcome: number;
    /** Started, and these records have no exit. */
    readonly startedWithoutExit: number;
  };
  readonly killIntents: { readonly ofRuns: number; readonly ofWorkers: number };
  readonly patches: Readonly<Record<CaptureKind, PatchCount>>;
  readonly capturesFailed: number;
  readonly removals: {
    readonly total: number;
    readonly byReason: Readonly<Record<RemovalReason, number>>;
    /** Each removal once, with the reaper that finished it. */
    readonly byReaper: readonly ReaperCount[];
    /** Removals that more than one reaper had a part in. */
    readonly takenOver: number;
    readonly refused: number;
  };
  readonly quarantines: {
    readonly quarantined: number;
    readonly released: number;
    readonly exported: number;
  };
  readonly refusals: {
    /** As the App has archived them. */
    readonly app: Readonly<Partial<Record<RefusalCode, number>>>;
    /** As workers wrote them into their machine's ledger; they reach the App's as well. */
    readonly machine: Readonly<Partial<Record<RefusalCode, number>>>;
    /** Entries of the streams that were no event. */
    readonly unreadable: number;
  };
  readonly lostWork: LostWork;
  /** What these records do not show; a sentence each. */
  readonly notShown: readonly string[];
}
