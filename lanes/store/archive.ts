/**
 * Handing a stream over to an archive: pages from where the archive ends, and dropping what it has. Both compare the
 * store's stamp in the same step: a place in a store that was wiped says nothing of the one that is there now.
 */
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { Namespace } from '../namespaces.ts';
import type {
  ArchiveCursor,
  ArchivedEvent,
  ArchivePage,
  RefusalEvent,
  TaskEvent,
} from '../records/ledger.ts';
import { ask } from './answers.ts';
import { makeScript, runScript } from './script.ts';

/** Bounds how long Redis is busy with one call. */
const mostAtOnce = 1_000;

/**
 * KEYS: epoch, stream. ARGV: the archive's epoch and id, how many entries, a fresh epoch where one may be minted (else
 * empty). Answers { epoch, entries }, or { } where there is no epoch.
 */
const pageScript = makeScript(`
local epoch = redis.call('GET', KEYS[1])
if not epoch then
  if ARGV[4] == '' then return {} end
  epoch = ARGV[4]
  redis.call('SET', KEYS[1], epoch)
end
local from = '-'
if epoch == ARGV[1] then from = ARGV[2] end
return { epoch, redis.call('XRANGE', KEYS[2], from, '+', 'COUNT', ARGV[3]) }
`);

/** KEYS: epoch, stream. ARGV: the archive's epoch and id, how many to keep, the most to drop. Answers how many went. */
const trimScript = makeScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local excess = math.min(redis.call('XLEN', KEYS[2]) - ARGV[3], tonumber(ARGV[4]))
if excess <= 0 then return 0 end
local old = redis.call('XRANGE', KEYS[2], '-', ARGV[2], 'COUNT', excess)
for i = 1, #old do old[i] = old[i][1] end
if #old > 0 then redis.call('XDEL', KEYS[2], unpack(old)) end
return #old
`);

const pageSchema = z.union([
  z.tuple([]),
  z.tuple([z.string(), z.array(z.tuple([z.string(), z.array(z.string())]))]),
]);

/** Where an event stands. */
type From = ArchiveCursor & Pick<ArchivedEvent, 'v'>;

interface StreamArchive {
  /** @param fresh mints the store's stamp where it has none; empty: then there is nothing */
  page(
    after: ArchiveCursor | null,
    count: number,
    fresh: string,
    toEvent: (from: From, text: string) => ArchivedEvent,
  ): Promise<ArchivePage>;
  trim(upTo: ArchiveCursor): Promise<number>;
}

export function makeStreamArchive(
  redis: Redis,
  epochAt: string,
  stream: string,
  kept: number,
): StreamArchive {
  const keys = [epochAt, stream];
  return {
    async page(after, count, fresh, toEvent) {
      // One alone would be the entry that the archive ends with, for ever.
      const most = Math.max(2, Math.min(count, mostAtOnce));
      const args = [after?.epoch ?? '', after?.id ?? '', most, fresh];
      const answer = await ask(redis, () => runScript(redis, pageScript, keys, args));
      const [epoch, entries = []] = pageSchema.parse(answer);
      if (epoch === undefined) return { epoch: null, events: [], more: false };
      const events = entries.flatMap(([id, flat]) =>
        flat.filter((_text, i) => i % 2 === 1).map((text, part) => toEvent({ v: 1, epoch, id, part }, text)),
      );
      return { epoch, events, more: entries.length === most };
    },
    async trim({ epoch, id }) {
      const args = [epoch, id, kept, mostAtOnce];
      return Number(await ask(redis, () => runScript(redis, trimScript, keys, args)));
    },
  };
}

/** An event as the archive keeps it; what cannot be read is kept as it was, cut at 2,000 characters. */
export function archivedAs(
  namespace: Namespace,
  from: From,
  text: string,
  read: () => TaskEvent | RefusalEvent,
): ArchivedEvent {
  try {
    return { ...from, ...read() };
  } catch {
    return { ...from, event: 'unreadable', namespace, text: text.slice(0, 2_000), atMs: timeOf(from.id) };
  }
}

/** A stream's id begins with Redis's time in ms. */
export function timeOf(id: string): number {
  return Number(id.slice(0, id.indexOf('-')));
}
