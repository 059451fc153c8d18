/** The ledger of a namespace's tasks: what its scripts wrote, oldest first. */
import type { Redis } from 'ioredis';
import type { Namespace } from '../namespaces.ts';
import { type TaskEvent, taskEventSchema } from '../records/ledger.ts';
import { ask } from './answers.ts';
import { ledgerKey } from './keys.ts';
import { readStream } from './streams.ts';

export interface LedgerEntry {
  readonly id: string;
  readonly event: TaskEvent;
}

export interface Ledger {
  /** Events after `afterId` (`0` for all that are kept), oldest first. */
  read(afterId: string, count: number): Promise<LedgerEntry[]>;
  /** Keeps about the newest `kept` events; the older ones are the archive's. */
  trim(kept: number): Promise<void>;
}

export function makeLedger(redis: Redis, ns: Namespace): Ledger {
  return {
    async read(afterId, count) {
      const entries = await readStream(redis, () => redis, ledgerKey(ns), afterId, { count });
      return entries.map(({ id, fields }) => {
        const [event, task, run, fence, by, ...detail] = fields.line?.split('\n') ?? [];
        // A stream's id begins with Redis's time in ms.
        const atMs = Number(id.slice(0, id.indexOf('-')));
        const numbers = { run: Number(run), fence: Number(fence), atMs };
        return {
          id,
          event: taskEventSchema.parse({
            event,
            namespace: ns,
            task,
            by,
            detail: detail.join('\n'),
            ...numbers,
          }),
        };
      });
    },

    async trim(kept) {
      await ask(redis, () => redis.xtrim(ledgerKey(ns), 'MAXLEN', '~', kept));
    },
  };
}
