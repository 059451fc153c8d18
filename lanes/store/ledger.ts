/** The ledger of a namespace's tasks: what its scripts wrote, oldest first. */
import type { Redis } from 'ioredis';
import type { Namespace } from '../namespaces.ts';
import { type TaskEvent, taskEventSchema } from '../records/ledger.ts';
import { ledgerKey } from './keys.ts';
import { readStream } from './streams.ts';

export interface LedgerEntry {
  readonly id: string;
  readonly event: TaskEvent;
}

export interface Ledger {
  /** Events after `afterId` (`0` for all that are kept), oldest first. */
  read(afterId: string, count: number): Promise<LedgerEntry[]>;
}

export function makeLedger(redis: Redis, ns: Namespace): Ledger {
  return {
    async read(afterId, count) {
      const entries = await readStream(redis, () => redis, ledgerKey(ns), afterId, { count });
      return entries.map(({ id, fields }) => {
        const numbers = { run: Number(fields.run), fence: Number(fields.fence), atMs: Number(fields.atMs) };
        return { id, event: taskEventSchema.parse({ ...fields, ...numbers, namespace: ns }) };
      });
    },
  };
}
