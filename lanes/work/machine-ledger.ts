/** The machine's ledger: one fsynced JSON line for each thing that happened to a copy, in a file per ISO week. */
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { type CopyRecord, type MachineEvent, machineEventSchema } from '../records/copies.ts';
import { onDisk, syncFolder } from './files.ts';
import type { Workplace } from './workplace.ts';

export interface MachineLedger {
  /** Durable when it resolves. Throws LaneError `disk`. */
  append(event: MachineEvent): Promise<void>;
}

/** Opens the ledger in a folder, which is made if it is missing. Several processes may append at once. */
export function openMachineLedger(folder: string): MachineLedger {
  return {
    append: (event) =>
      onDisk(`cannot write the ledger in ${folder}`, () =>
        appendLine(folder, machineEventSchema.parse(event)),
      ),
  };
}

/** What every event of a copy has: when, where, and whose run. */
export function eventOf(place: Workplace, record: CopyRecord) {
  const { id, task, namespace, run, fence } = record;
  const { machineId, instance } = place.owner;
  return { v: 1 as const, at: place.now(), machineId, instance, copy: id, task, namespace, run, fence };
}

async function appendLine(folder: string, event: MachineEvent): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = await open(join(folder, `${isoWeek(event.at)}.jsonl`), 'a+', 0o600);
  try {
    const { size } = await file.stat();
    const line = `${JSON.stringify(event)}\n`;
    await file.write((await endsTorn(file, size)) ? `\n${line}` : line);
    await file.sync();
    if (size === 0) await syncFolder(folder);
  } finally {
    await file.close();
  }
}

/** A writer that died in the middle of a line must not spoil the next one. */
async function endsTorn(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== 0x0a;
}

const DAY_MS = 86_400_000;

/** The ISO 8601 week of a time in UTC, such as `2026-W33`. A week belongs to the year of its Thursday. */
export function isoWeek(atMs: number): string {
  const day = new Date(atMs);
  const weekday = (day.getUTCDay() + 6) % 7;
  const thursday = new Date(atMs + (3 - weekday) * DAY_MS);
  const year = thursday.getUTCFullYear();
  const dayOfYear = Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / DAY_MS);
  return `${year}-W${String(Math.floor(dayOfYear / 7) + 1).padStart(2, '0')}`;
}
