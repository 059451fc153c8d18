/** Reads the ledger of a data directory: the machine's own events, and the archive of the streams. */
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { archivedEventSchema } from '../records/ledger.ts';
import { machineEventSchema } from '../records/machine-events.ts';
import type { LedgerRecord } from '../rules/ledger-report/index.ts';
import { errorCode } from './files.ts';
import { weeksIn } from './ledger-archive.ts';
import { type Line, parseLine, readLines } from './ledger-file.ts';

export interface LedgerReading {
  /** The weeks that there are files of, oldest first; of the one that was asked for, where it is there. */
  readonly weeks: readonly string[];
  readonly records: AsyncGenerator<LedgerRecord>;
}

/** Every record of a week, or of all; each stream's in order. A line that cannot be read is a record too. */
export async function readLedger(dataDir: string, week: string | null): Promise<LedgerReading> {
  const root = join(dataDir, 'ledger');
  const streams = (await namesIn(join(root, 'tasks'))).map((name) => join('tasks', name));
  const folders = ['', ...streams, 'refusals'];
  const files: string[] = [];
  const weeks = new Set<string>();
  for (const folder of folders) {
    for (const one of await weeksIn(join(root, folder))) {
      if (week !== null && one !== week) continue;
      weeks.add(one);
      files.push(join(root, folder, `${one}.jsonl`));
    }
  }
  return { weeks: [...weeks].sort(), records: recordsOf(root, files) };
}

async function* recordsOf(root: string, files: readonly string[]): AsyncGenerator<LedgerRecord> {
  for (const path of files) {
    const file = relative(root, path);
    const isMachine = !file.includes('/');
    for await (const line of readLines(path)) yield recordOf(file, isMachine, line);
  }
}

function recordOf(file: string, isMachine: boolean, line: Line): LedgerRecord {
  const value = parseLine(line.text);
  if (isMachine) {
    const event = machineEventSchema.safeParse(value);
    if (event.success) return { kind: 'machine', event: event.data };
  } else {
    const event = archivedEventSchema.safeParse(value);
    if (event.success) return { kind: 'archived', event: event.data };
  }
  const broken = line.ended ? 'damaged' : 'torn';
  return {
    kind: 'damaged',
    line: { file, line: line.number, why: value === undefined ? broken : 'unknown' },
  };
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
