/** The ledger of a namespace's tasks: what its scripts wrote, oldest first. */
import type { Redis } from 'ioredis';
import type { Namespace } from '../namespaces.ts';
import { type ArchiveCursor, type ArchivePage, type TaskEvent, taskEventSchema } from '../records/ledger.ts';
import type { Task } from '../records/tasks.ts';
import { archivedAs, makeStreamArchive, timeOf } from './archive.ts';
import { epochKey, ledgerKey } from './keys.ts';
import { readStream } from './streams.ts';

export interface LedgerEntry {
  readonly id: string;
  readonly event: TaskEvent;
}

export interface Ledger {
  /** Events after `afterId` (`0` for all that are kept), oldest first; those of one write, up to 32, share an id. */
  read(afterId: string, count: number): Promise<LedgerEntry[]>;
  /** The next events for an archive that ends with `after`. */
  page(after: ArchiveCursor | null, count: number): Promise<ArchivePage>;
  /** Drops what is archived up to `upTo`, but the newest 10,000 entries; answers how many went. */
  trim(upTo: ArchiveCursor): Promise<number>;
}

/** What stays in Redis of what is archived, for a look at what happened lately. */
const keptEntries = 10_000;

export function makeLedger(redis: Redis, ns: Namespace): Ledger {
  const archive = makeStreamArchive(redis, epochKey(ns), ledgerKey(ns), keptEntries);
  return {
    async read(afterId, count) {
      const entries = await readStream(redis, () => redis, ledgerKey(ns), afterId, { count });
      return entries.flatMap(({ id, fields }) =>
        Object.values(fields).map((line) => ({ id, event: eventOf(ns, id, line) })),
      );
    },

    // Without a stamp no task was ever admitted: there is nothing to archive.
    page: async (after, count) =>
      archive.page(after, count, '', (from, line) =>
        archivedAs(ns, from, line, () => eventOf(ns, from.id, line)),
      ),
    trim: archive.trim,
  };
}

/** An event as scripts write it: a line a field, the detail last. The id of its entry tells the time. */
export function ledgerLine(
  { id, run, fence }: Pick<Task, 'id' | 'run' | 'fence'>,
  { event, by, detail }: Pick<TaskEvent, 'event' | 'by' | 'detail'>,
): string {
  return `${event}\n${id}\n${run}\n${fence}\n${by}\n${detail.slice(0, 2_000)}`;
}

function eventOf(namespace: Namespace, id: string, line: string): TaskEvent {
  const [event, task, run, fence, by, ...detail] = line.split('\n');
  const numbers = { run: Number(run), fence: Number(fence), atMs: timeOf(id) };
  return taskEventSchema.parse({ event, namespace, task, by, detail: detail.join('\n'), ...numbers });
}
