/**
 * What became of each isolation copy, from its machine's events. Whoever goes on where a dead one stopped may tell again
 * of what was told already: so a copy has one end, one patch of each kind and one removal, however often they are told.
 */
import type { CaptureKind } from '../../records/copies.ts';
import type { MachineEvent } from '../../records/machine-events.ts';
import type { Runs } from './runs.ts';
import type { LedgerReport, LostWork } from './types.ts';

/** The events of copies. */
export type CopyEvent = Extract<MachineEvent, { copy: string }>;
type Told<Name extends CopyEvent['event']> = Extract<CopyEvent, { event: Name }>;

interface Copy {
  readonly run: Pick<CopyEvent, 'namespace' | 'task' | 'run'>;
  started: boolean;
  abandoned: boolean;
  /** The first: it is by who saw the end. */
  exit: Told<'run_exited'> | null;
  /** The last of each kind: it took the place of those before. */
  readonly patches: Map<CaptureKind, Told<'captured'>>;
  /** The last: it names every reaper. */
  removed: Told<'removed'> | null;
}

/** Names of copies that a report lists. */
const listed = 100;

export class Copies {
  readonly #copies = new Map<string, Copy>();

  add(event: CopyEvent): void {
    const copy = this.#copies.get(event.copy) ?? blank(event);
    this.#copies.set(event.copy, copy);
    if (event.event === 'run_started') copy.started = true;
    if (event.event === 'copy_abandoned') copy.abandoned = true;
    if (event.event === 'run_exited') copy.exit ??= event;
    if (event.event === 'captured') copy.patches.set(event.kind, event);
    if (event.event === 'removed') copy.removed = event;
  }

  deaths(): Told<'run_exited'>[] {
    return this.#all().flatMap((copy) => (copy.exit !== null && isDeath(copy) ? [copy.exit] : []));
  }

  patches(): Told<'captured'>[] {
    return this.#all().flatMap(({ patches }) => [...patches.values()]);
  }

  removals(): Told<'removed'>[] {
    return this.#all().flatMap(({ removed }) => (removed === null ? [] : [removed]));
  }

  exits(runs: Runs): LedgerReport['exits'] {
    const zero = this.#all().filter(({ exit }) => exit?.exitCode === 0);
    const outcomes = zero.map(({ run }) => runs.outcomeOf(run));
    return {
      zero: zero.length,
      zeroFailures: outcomes.filter((outcome) => outcome !== 'result' && outcome !== 'none').length,
      zeroWithoutOutcome: outcomes.filter((outcome) => outcome === 'none').length,
      startedWithoutExit: this.#all().filter(({ started, exit }) => started && exit === null).length,
    };
  }

  lostWork(): LostWork {
    const started = [...this.#copies].filter(([, copy]) => copy.started);
    const lost = started.filter(([, copy]) => isLost(copy)).map(([id]) => id);
    const died = started.map(([, copy]) => copy).filter((copy) => isDeath(copy) && !isLost(copy));
    const diedWithWork = died.filter((copy) => (savedBytes(copy) ?? 0) > 0).length + lost.length;
    return {
      diedWithWork,
      lost: lost.length,
      lostCopies: lost.slice(0, listed),
      // The rule of three: none in n says no more than that it happens to less than 3 in n.
      upperBound95: lost.length === 0 && diedWithWork > 0 ? Math.min(1, 3 / diedWithWork) : null,
      nothingToSave: died.filter((copy) => savedBytes(copy) === 0).length,
      notYetCaptured: died.filter((copy) => savedBytes(copy) === null && copy.removed === null).length,
      givenUp: started.filter(([, copy]) => isGivenUp(copy)).length,
    };
  }

  #all(): Copy[] {
    return [...this.#copies.values()];
  }
}

function blank({ namespace, task, run }: CopyEvent): Copy {
  const about = { run: { namespace, task, run }, started: false, abandoned: false };
  return { ...about, exit: null, patches: new Map(), removed: null };
}

/** Whether the agent's end was a death: anything but an exit with 0. */
function isDeath({ exit }: Copy): boolean {
  return exit !== null && exit.exitCode !== 0;
}

/** Bytes of the patch with all of its work; null where there is none. A checkpoint is of a moment before the end. */
function savedBytes({ patches }: Copy): number | null {
  const bytes = (['result', 'salvage'] as const).flatMap((kind) => patches.get(kind)?.bytes ?? []);
  return bytes.length === 0 ? null : Math.max(...bytes);
}

function isGivenUp({ removed }: Copy): boolean {
  return removed !== null && removed.reason === 'removed_by_person' && removed.sha256 === null;
}

function isLost(copy: Copy): boolean {
  if (copy.abandoned) return true;
  return copy.removed !== null && copy.removed.sha256 === null && !isGivenUp(copy);
}
