/** All that the engine holds of one namespace: its connections, opened when first needed, and its tasks and wake-ups. */
import type { Redis } from 'ioredis';
import type { Namespace } from './namespaces.ts';
import { makeWakes, type Wakes } from './queue/wakes.ts';
import { ask } from './store/answers.ts';
import { makeRedisClock } from './store/clock.ts';
import { openBlocking, openForQueue, type QueueConnection } from './store/connect.ts';
import { type Ledger, makeLedger } from './store/ledger.ts';
import { type Listing, makeListing } from './store/listing.ts';
import { makeTaskStore, type TaskStore } from './store/tasks.ts';
import { makeTurn, type Turn } from './store/turn.ts';

export interface Space {
  readonly ns: Namespace;
  /** The connection of verbs. */
  readonly redis: Redis;
  readonly tasks: TaskStore;
  readonly listing: Listing;
  readonly ledger: Ledger;
  readonly turn: Turn;
  /** The connection of blocking reads. */
  blocking(): Redis;
  /** A fresh connection for one BullMQ worker, which ends it. */
  openForWorker(): QueueConnection;
  wakes(): Wakes;
  close(): Promise<void>;
}

export function makeSpace(redis: Redis, ns: Namespace): Space {
  const opened: Redis[] = [redis];
  const open = (connection: Redis): Redis => {
    opened.push(connection);
    return connection;
  };
  let blocking: Redis | undefined;
  let wakes: Wakes | undefined;
  return {
    ns,
    redis,
    tasks: makeTaskStore(redis, ns, makeRedisClock()),
    listing: makeListing(redis, ns),
    ledger: makeLedger(redis, ns),
    turn: makeTurn(redis, ns),
    blocking: () => {
      blocking ??= open(openBlocking(redis));
      return blocking;
    },
    openForWorker: () => openForQueue(redis),
    wakes: () => {
      wakes ??= makeWakes(redis, ns, ask);
      return wakes;
    },
    async close() {
      for (const connection of opened) connection.disconnect();
      await wakes?.close().catch(() => {});
    },
  };
}
