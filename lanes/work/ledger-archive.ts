/**
 * The archive of one stream: a file of JSON lines for each ISO week. Where the archive ends is read from its own last
 * line, so that no second file can disagree with it: what is there is archived, what is not is asked for again. One
 * process appends at a time; the caller holds the archive's lock.
 */
import { mkdir, open, readdir, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { type ArchiveCursor, type ArchivedEvent, archivedEventSchema } from '../records/ledger.ts';
import { isoWeek, isWeek } from '../rules/iso-week.ts';
import { errorCode, onDisk, syncFolder } from './files.ts';
import { appendLines, parseLine } from './ledger-file.ts';
import type { Point } from './workplace.ts';

export interface LedgerArchive {
  /** The last event that is durably there; null in an empty archive. */
  cursor(): ArchiveCursor | null;
  /** Durable when it resolves. After an error the archive must be opened again. @throws LaneError `disk`. */
  append(events: readonly ArchivedEvent[]): Promise<void>;
}

/** Opens the archive in a folder, which is made if it is missing. @throws LaneError `disk`. */
export async function openLedgerArchive(folder: string, point?: Point): Promise<LedgerArchive> {
  return await onDisk(`cannot open the ledger's archive in ${folder}`, async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const weeks = await weeksIn(folder);
    await syncNewest(folder, weeks.at(-1));
    return new Archive(folder, weeks.at(-1) ?? '', await lastEvent(folder, weeks), point);
  });
}

/** The weeks that a folder has a file of, oldest first. */
export async function weeksIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  });
  const weeks = names
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => name.slice(0, -'.jsonl'.length));
  return weeks.filter(isWeek).sort();
}

/** What a dead process had written may not be on the disk yet, and is about to count as archived. */
async function syncNewest(folder: string, week: string | undefined): Promise<void> {
  if (week === undefined) return;
  const file = await open(join(folder, `${week}.jsonl`), 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
  await syncFolder(folder);
}

async function lastEvent(folder: string, weeks: readonly string[]): Promise<ArchiveCursor | null> {
  for (const week of weeks.toReversed()) {
    const last = await lastEventOf(join(folder, `${week}.jsonl`));
    if (last !== null) return last;
  }
  return null;
}

const firstLook = 64 * 1024;

/** The last line that is an event. Looked for from the end, in ever wider looks: what is torn there is short. */
async function lastEventOf(path: string): Promise<ArchiveCursor | null> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    for (let look = Math.min(firstLook, size); look > 0; look = look < size ? Math.min(look * 2, size) : 0) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(look), 0, look, size - look);
      const lines = buffer.subarray(0, bytesRead).toString('utf8').split('\n').toReversed();
      for (const line of lines) {
        const event = archivedEventSchema.safeParse(parseLine(line));
        if (event.success) return event.data;
      }
    }
    return null;
  } finally {
    await file.close();
  }
}

class Archive implements LedgerArchive {
  readonly #folder: string;
  readonly #point: Point | undefined;
  #newest: string;
  #cursor: ArchiveCursor | null;

  constructor(folder: string, newest: string, cursor: ArchiveCursor | null, point: Point | undefined) {
    this.#folder = folder;
    this.#newest = newest;
    this.#cursor = cursor;
    this.#point = point;
  }

  cursor(): ArchiveCursor | null {
    return this.#cursor;
  }

  async append(events: readonly ArchivedEvent[]): Promise<void> {
    await onDisk(`cannot write the ledger's archive in ${this.#folder}`, async () => {
      for (const [week, own] of this.#byWeek(events)) await this.#appendTo(week, own);
    });
  }

  /**
   * An event goes into the file of its week, but never into one before the newest: its last line is where the archive
   * ends. Only a clock that was set back makes the difference.
   */
  #byWeek(events: readonly ArchivedEvent[]): Map<string, ArchivedEvent[]> {
    const weeks = new Map<string, ArchivedEvent[]>();
    for (const event of events) {
      const own = isoWeek(Number(event.id.split('-')[0]));
      if (own > this.#newest) this.#newest = own;
      const known = weeks.get(this.#newest);
      if (known) known.push(event);
      else weeks.set(this.#newest, [event]);
    }
    return weeks;
  }

  async #appendTo(week: string, events: readonly ArchivedEvent[]): Promise<void> {
    const path = join(this.#folder, `${week}.jsonl`);
    const before = await stat(path).catch(() => null);
    try {
      const lines = events.map((event) => JSON.stringify(event));
      await appendLines(path, lines, this.#point === undefined ? {} : { point: this.#point });
    } catch (error) {
      // After a failed fsync a second one may say that all is well: what was written must be written again.
      await truncate(path, before?.size ?? 0).catch(() => {});
      throw error;
    }
    this.#cursor = events.at(-1) ?? this.#cursor;
  }
}
