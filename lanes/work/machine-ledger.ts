/** The machine's ledger: one fsynced JSON line for each thing that happened to a copy, in a file per ISO week. */
import { join } from 'node:path';
import type { CopyRecord } from '../records/copies.ts';
import { type MachineEvent, machineEventSchema } from '../records/machine-events.ts';
import { isoWeek } from '../rules/iso-week.ts';
import { type Files, onDisk, files as systemFiles } from './files.ts';
import { appendLines } from './ledger-file.ts';
import type { Workplace } from './workplace.ts';

export interface MachineLedger {
  /** Durable when it resolves. Throws LaneError `disk`. */
  append(event: MachineEvent): Promise<void>;
}

/** Opens the ledger in a folder, which is made if it is missing. Several processes may append at once. */
export function openMachineLedger(folder: string, files: Files = systemFiles): MachineLedger {
  return {
    append: (event) =>
      onDisk(`cannot write the ledger in ${folder}`, () => {
        const file = join(folder, `${isoWeek(event.at)}.jsonl`);
        return appendLines(file, [JSON.stringify(machineEventSchema.parse(event))], { files });
      }),
  };
}

/** What every event of a copy has: when, where, and whose run. */
export function eventOf(place: Workplace, record: CopyRecord) {
  const { id, task, namespace, run, fence } = record;
  const { machineId, instance } = place.owner;
  return { v: 1 as const, at: place.now(), machineId, instance, copy: id, task, namespace, run, fence };
}
