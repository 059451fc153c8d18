/** Reading and acknowledging streams: effects, the ledger. A blocking read has a connection of its own. */
import type { Redis } from 'ioredis';
import { answerWithinMs, ask } from './answers.ts';

export interface StreamEntry {
  readonly id: string;
  readonly fields: Readonly<Record<string, string>>;
}

export interface ReadOptions {
  readonly count: number;
  /** How long to wait where nothing is there yet, in ms. Without it the answer comes at once. */
  readonly blockMs?: number | undefined;
}

/** The most entries that one read answers with. */
const mostAtOnce = 1_000;

/** Entries of a stream after `afterId` (`0` for all), oldest first. `waiting` is asked for only to block. */
export async function readStream(
  redis: Redis,
  waiting: () => Redis,
  key: string,
  afterId: string,
  { count, blockMs }: ReadOptions,
): Promise<StreamEntry[]> {
  const most = Math.min(count, mostAtOnce);
  const answer =
    blockMs === undefined
      ? await ask(redis, () => redis.xread('COUNT', most, 'STREAMS', key, afterId))
      : await ask(
          waiting(),
          () => waiting().xread('COUNT', most, 'BLOCK', blockMs, 'STREAMS', key, afterId),
          blockMs + answerWithinMs,
        );
  return (answer ?? []).flatMap(([, entries]) =>
    entries.map(([id, flat]) => ({ id, fields: toRecord(flat) })),
  );
}

/** Takes an entry off a stream for good. */
export async function dropEntry(redis: Redis, key: string, id: string): Promise<void> {
  await ask(redis, () => redis.xdel(key, id));
}

/** Field, value, field, value… as a record. */
export function toRecord(flat: readonly string[]): Record<string, string> {
  const record: Record<string, string> = {};
  for (let i = 0; i + 1 < flat.length; i += 2) record[flat[i] ?? ''] = flat[i + 1] ?? '';
  return record;
}
