/**
 * The ledger's report: counts of what stands in the records, in one pass over them, in any order of files. It infers
 * nothing: what two records do not say together is not said, and what is missing is counted as missing.
 */
import type { RefusalCode } from '../../records/ledger.ts';
import { Machine } from './machine.ts';
import { notShown } from './not-shown.ts';
import { Runs } from './runs.ts';
import { Tally } from './tally.ts';
import type { DamagedLine, LedgerRecord, LedgerReport } from './types.ts';

export type { LedgerRecord, LedgerReport } from './types.ts';

/** Damaged lines that are named; all of them are counted. */
const named = 100;

export class LedgerCount {
  readonly #runs = new Runs();
  readonly #machine = new Machine();
  readonly #refusals = new Tally<RefusalCode>();
  readonly #records = { tasks: 0, machine: 0, refusals: 0 };
  readonly #damaged: DamagedLine[] = [];
  #damagedLines = 0;
  #unreadable = 0;

  add(record: LedgerRecord): void {
    if (record.kind === 'damaged') this.#addDamaged(record.line);
    else if (record.kind === 'machine') {
      this.#records.machine += 1;
      this.#machine.add(record.event);
    } else this.#addArchived(record.event);
  }

  /** @param weeks those whose records were added */
  report(weeks: readonly string[]): LedgerReport {
    const { copies, refusals } = this.#machine;
    return {
      weeks,
      records: { ...this.#records },
      damaged: { lines: this.#damagedLines, first: this.#damaged },
      ...this.#runs.report(),
      ...this.#machine.report(),
      exits: copies.exits(this.#runs),
      refusals: { app: this.#refusals.seen(), machine: refusals.seen(), unreadable: this.#unreadable },
      lostWork: copies.lostWork(),
      notShown,
    };
  }

  #addArchived(event: Extract<LedgerRecord, { kind: 'archived' }>['event']): void {
    if (event.event === 'unreadable') {
      this.#unreadable += 1;
    } else if (event.event === 'refused') {
      this.#records.refusals += 1;
      this.#refusals.add(event.code);
    } else {
      this.#records.tasks += 1;
      this.#runs.add(event);
    }
  }

  #addDamaged(line: DamagedLine): void {
    this.#damagedLines += 1;
    if (this.#damaged.length < named) this.#damaged.push(line);
  }
}
