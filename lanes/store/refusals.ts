/** Refused verbs as the App keeps them: the newest ones in a stream, and a count of all of them by code. */
import type { Redis } from 'ioredis';
import { LaneError } from '../errors.ts';
import type { Namespace } from '../namespaces.ts';
import {
  type ArchiveCursor,
  type ArchivePage,
  type RefusalBatch,
  type RefusalCode,
  type RefusalEvent,
  refusalBatchSchema,
  refusalCodeSchema,
  refusalEventSchema,
} from '../records/ledger.ts';
import { ask } from './answers.ts';
import { archivedAs, makeStreamArchive } from './archive.ts';
import { epochKey, refusalCountsKey, refusalsKey } from './keys.ts';
import { makeScript, runScript } from './script.ts';
import { toRecord } from './streams.ts';

/** What stays in Redis of what is archived. */
const kept = 10_000;
/** Whoever is refused decides how many there are: where nobody archives them, the oldest go all the same. */
const most = 100_000;

/** KEYS: stream, counts. ARGV: how many to keep, how many pairs, then code and number of each, then the events. */
const recordScript = makeScript(`
local pairsEnd = 2 + 2 * tonumber(ARGV[2])
for i = 3, pairsEnd, 2 do redis.call('HINCRBY', KEYS[2], ARGV[i], ARGV[i + 1]) end
for i = pairsEnd + 1, #ARGV do redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'event', ARGV[i]) end
return 1
`);

export interface Refusals {
  record(batch: RefusalBatch): Promise<void>;
  /** The newest, newest first. */
  read(count: number): Promise<RefusalEvent[]>;
  counts(): Promise<Partial<Record<RefusalCode, number>>>;
  /** The next ones for an archive that ends with `after`. */
  page(after: ArchiveCursor | null, count: number): Promise<ArchivePage>;
  /** Drops what is archived up to `upTo`, but the newest 10,000; answers how many went. */
  trim(upTo: ArchiveCursor): Promise<number>;
}

/** @param id makes the stamp of the store, in a namespace that has no tasks to mint one with */
export function makeRefusals(redis: Redis, ns: Namespace, id: () => string): Refusals {
  const [stream, counts] = [refusalsKey(ns), refusalCountsKey(ns)];
  const archive = makeStreamArchive(redis, epochKey(ns), stream, kept);
  return {
    async record(batch) {
      const valid = refusalBatchSchema.safeParse(batch);
      if (!valid.success) throw new LaneError('invalid_result', 'not a batch of refusals');
      const { data } = valid;
      const pairs = Object.entries(data.counts);
      const events = data.events.map((event) => JSON.stringify(event));
      const args = [most, pairs.length, ...pairs.flat(), ...events];
      await ask(redis, () => runScript(redis, recordScript, [stream, counts], args));
    },

    async read(count) {
      const atMost = Math.min(count, kept);
      const entries = await ask(redis, () => redis.xrevrange(stream, '+', '-', 'COUNT', atMost));
      return entries.map(([, flat]) => refusalEventSchema.parse(JSON.parse(toRecord(flat).event ?? '')));
    },

    async counts() {
      const all = await ask(redis, () => redis.hgetall(counts));
      const known = refusalCodeSchema.options.filter((code) => all[code] !== undefined);
      return Object.fromEntries(known.map((code) => [code, Number(all[code])]));
    },

    page: async (after, count) =>
      archive.page(after, count, id(), (from, text) =>
        archivedAs(ns, from, text, () => refusalEventSchema.parse(JSON.parse(text))),
      ),
    trim: archive.trim,
  };
}
