/**
 * The archive: every 5 s it copies what the namespaces' ledgers and the refusals have gained into files of JSON lines,
 * each event once, and drops from Redis what is on the disk and not among the newest. One App does it at a time: the one
 * that delivers, and in a data directory the one that holds the archive's lock.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ArchiveCursor,
  type ArchivePage,
  type Caller,
  type Engine,
  intakeNamespace,
  type LedgerArchive,
  type Namespace,
  openLedgerArchive,
  tryLock,
} from '../../lanes/index.ts';
import { type Loop, makeLoop } from '../loop.ts';

export interface ArchiveDeps {
  readonly dataDir: string;
  readonly engine: {
    readonly ledger: Pick<Engine['ledger'], 'page' | 'trim'>;
    readonly refusals: Pick<Engine['refusals'], 'page' | 'trim'>;
  };
  caller(ns: Namespace): Caller;
  /** The namespaces that hold tasks. */
  readonly namespaces: readonly Namespace[];
  /** Whether this App is the one that delivers now. */
  seated(): boolean;
  readonly onError: (error: unknown) => void;
  /** Hears of each step of a write. */
  readonly point?: (name: string) => Promise<void> | void;
}

export interface Archive extends Loop {
  /** One round; answers how many events were archived. */
  runOnce(): Promise<number>;
}

const everyMs = 5_000;
/** Entries at a time: each has up to 32 events of up to 2,000 characters. */
const pageSize = 200;

/** One stream, where it is read, and where it goes. */
interface Source {
  /** Under `<data>/ledger`. */
  readonly folder: string;
  page(after: ArchiveCursor | null): Promise<ArchivePage>;
  trim(upTo: ArchiveCursor): Promise<number>;
}

export function makeArchive(deps: ArchiveDeps): Archive {
  const root = join(deps.dataDir, 'ledger');
  const sources = sourcesOf(deps);
  const opened = new Map<Source, LedgerArchive>();
  let lock: Awaited<ReturnType<typeof tryLock>> = null;

  const archive = async (source: Source): Promise<number> => {
    const files = opened.get(source) ?? (await openLedgerArchive(join(root, source.folder), deps.point));
    // Until it is known to be right again: after an error the end is read from the disk anew.
    opened.delete(source);
    const count = await drain(source, files);
    opened.set(source, files);
    return count;
  };

  const failed = (error: unknown): number => {
    deps.onError(error);
    return 0;
  };

  const runOnce = async (): Promise<number> => {
    if (!deps.seated()) return 0;
    await mkdir(root, { recursive: true, mode: 0o700 });
    lock ??= await tryLock(join(root, 'archive.lock'));
    if (lock === null) return 0;
    // Together: one stream that fails, or a Redis that does not answer, must not keep the others waiting.
    const counts = sources.map((source) => archive(source).catch(failed));
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  };

  const loop = makeLoop(runOnce, everyMs, deps.onError);
  const stop = async (): Promise<void> => {
    await loop.stop();
    // What the last runs told before everything ended.
    await runOnce().catch(deps.onError);
    await lock?.release();
    lock = null;
  };
  return { runOnce, ...loop, stop };
}

function sourcesOf({ engine, caller, namespaces }: ArchiveDeps): Source[] {
  const intake = caller(intakeNamespace);
  const refusals: Source = {
    folder: 'refusals',
    page: (after) => engine.refusals.page(intake, after, pageSize),
    trim: (upTo) => engine.refusals.trim(intake, upTo),
  };
  const tasks = namespaces.map(
    (ns): Source => ({
      folder: join('tasks', ns),
      page: (after) => engine.ledger.page(caller(ns), ns, after, pageSize),
      trim: (upTo) => engine.ledger.trim(caller(ns), ns, upTo),
    }),
  );
  return [...tasks, refusals];
}

/** From where the archive ends to the end of the stream; then what is archived is dropped from Redis. */
async function drain(source: Source, files: LedgerArchive): Promise<number> {
  let archived = 0;
  for (;;) {
    const page = await source.page(files.cursor());
    const fresh = unknownTo(files.cursor(), page);
    if (fresh.length > 0) await files.append(fresh);
    archived += fresh.length;
    if (!page.more) break;
  }
  const end = files.cursor();
  if (end !== null) while ((await source.trim(end)) > 0);
  return archived;
}

/** A page begins with the entry that the archive ends with: some of its events may be missing there. */
function unknownTo(end: ArchiveCursor | null, { events }: ArchivePage): ArchivePage['events'] {
  return events.filter(
    ({ epoch, id, part }) => end === null || epoch !== end.epoch || id !== end.id || part > end.part,
  );
}
