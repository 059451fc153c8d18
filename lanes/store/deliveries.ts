/**
 * Webhook deliveries: recorded once by GUID before GitHub gets its answer, then handed to consumers in order. What a
 * consumer does not finish is handed out again; what fails five times is set aside, never lost.
 */
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { Namespace } from '../namespaces.ts';
import { type Delivery, deliverySchema } from '../records/issues.ts';
import { answerWithinMs, ask } from './answers.ts';
import { deadDeliveriesKey, deliveriesKey } from './keys.ts';
import { unpackPayload } from './packed.ts';
import { makeRecorder } from './recorder.ts';
import { makeScript, runScript } from './script.ts';
import { toRecord } from './streams.ts';

const group = 'intake';
const mostTries = 5;

/** Defines `bury(id, why)`: an entry goes to the dead list, in the same step as it leaves the stream. */
const luaBury = `
local function bury(id, why)
  local entry = redis.call('XRANGE', KEYS[1], id, id)[1]
  if entry then
    local fields = entry[2]
    fields[#fields + 1] = 'why'
    fields[#fields + 1] = why
    redis.call('XADD', KEYS[2], '*', unpack(fields))
  end
  redis.call('XACK', KEYS[1], '${group}', id)
  redis.call('XDEL', KEYS[1], id)
end
`;

/**
 * Entries that a consumer has held for too long go to this one; those that were handed out too often are buried: each
 * time, whoever had it died of it or gave up.
 * KEYS: deliveries, dead list. ARGV: consumer, idle ms, count, most tries. Answers entries { id, fields }.
 */
const reclaimScript = makeScript(`
${luaBury}
local claimed = redis.call('XAUTOCLAIM', KEYS[1], '${group}', ARGV[1], ARGV[2], '0', 'COUNT', ARGV[3])[2]
local live = {}
for _, entry in ipairs(claimed) do
  if entry then
    local pending = redis.call('XPENDING', KEYS[1], '${group}', entry[1], entry[1], 1)[1]
    if pending and pending[4] > tonumber(ARGV[4]) then
      bury(entry[1], 'handed out ' .. (pending[4] - 1) .. ' times and never finished')
    else
      live[#live + 1] = entry
    end
  end
end
return live
`);

/** KEYS: deliveries, dead list. ARGV: entry id, most tries, why. Answers 1 if set aside, 0 if it will be tried again. */
const failScript = makeScript(`
${luaBury}
local pending = redis.call('XPENDING', KEYS[1], '${group}', ARGV[1], ARGV[1], 1)[1]
if not pending or pending[4] < tonumber(ARGV[2]) then return 0 end
bury(ARGV[1], ARGV[3])
return 1
`);

/** KEYS: deliveries. ARGV: entry id. */
const doneScript = makeScript(`
redis.call('XACK', KEYS[1], '${group}', ARGV[1])
return redis.call('XDEL', KEYS[1], ARGV[1])
`);

export interface TakenDelivery {
  readonly id: string;
  readonly delivery: Delivery;
}

export interface Deliveries {
  record(delivery: Delivery): Promise<'recorded' | 'duplicate'>;
  /** New entries, or ones that nobody finished in time, for this consumer. Waits up to `blockMs` for the first. */
  take(consumer: string, options: { count: number; blockMs: number }): Promise<TakenDelivery[]>;
  done(id: string): Promise<void>;
  /** Notes a failure: after five tries the entry is set aside, before that it is handed out again. */
  failed(id: string, why: string): Promise<'again' | 'set_aside'>;
  /** The deliveries that were set aside, oldest first. */
  dead(count: number): Promise<{ id: string; why: string; delivery: Delivery }[]>;
}

const entriesSchema = z.array(z.tuple([z.string(), z.array(z.string())]));
const readSchema = z.array(z.tuple([z.string(), entriesSchema])).nullable();

export function makeDeliveries(
  redis: Redis,
  waiting: () => Redis,
  ns: Namespace,
  redeliverAfterMs: number,
): Deliveries {
  const key = deliveriesKey(ns);
  const both = [key, deadDeliveriesKey(ns)];

  const reclaim = async (consumer: string, count: number): Promise<TakenDelivery[]> => {
    const args = [consumer, redeliverAfterMs, count, mostTries];
    return toTaken(entriesSchema.parse(await ask(redis, () => runScript(redis, reclaimScript, both, args))));
  };
  const fresh = async (consumer: string, count: number, blockMs: number): Promise<TakenDelivery[]> => {
    const client = waiting();
    const read = (): Promise<unknown> =>
      client.xreadgroup('GROUP', group, consumer, 'COUNT', count, 'BLOCK', blockMs, 'STREAMS', key, '>');
    const answer = readSchema.parse(await ask(client, read, blockMs + answerWithinMs));
    return (answer ?? []).flatMap(([, entries]) => toTaken(entries));
  };

  return {
    record: makeRecorder(redis, ns),

    async take(consumer, { count, blockMs }) {
      try {
        const old = await reclaim(consumer, count);
        return old.length > 0 ? old : await fresh(consumer, count, blockMs);
      } catch (error) {
        if (!isNoGroup(error)) throw error;
        await makeGroup(redis, key);
        return [];
      }
    },

    async done(id) {
      await ask(redis, () => runScript(redis, doneScript, [key], [id]));
    },

    async failed(id, why) {
      const args = [id, mostTries, why.slice(0, 1_000)];
      const aside = await ask(redis, () => runScript(redis, failScript, both, args));
      return aside === 1 ? 'set_aside' : 'again';
    },

    async dead(count) {
      const entries = await ask(redis, () => redis.xrange(deadDeliveriesKey(ns), '-', '+', 'COUNT', count));
      return entries.map(([id, flat]) => ({ id, why: toRecord(flat).why ?? '', delivery: toDelivery(flat) }));
    },
  };
}

/** The group is made with the first take, and again where the store was wiped. It begins at the stream's start. */
async function makeGroup(redis: Redis, key: string): Promise<void> {
  try {
    await ask(redis, () => redis.xgroup('CREATE', key, group, '0', 'MKSTREAM'));
  } catch (error) {
    if (!(error instanceof Error && error.message.includes('BUSYGROUP'))) throw error;
  }
}

function isNoGroup(error: unknown): boolean {
  return error instanceof Error && /NOGROUP|UNBLOCKED/.test(error.message);
}

function toTaken(entries: z.infer<typeof entriesSchema>): TakenDelivery[] {
  return entries.map(([id, flat]) => ({ id, delivery: toDelivery(flat) }));
}

function toDelivery(flat: readonly string[]): Delivery {
  const fields = toRecord(flat);
  const { guid, event, receivedAtMs } = fields;
  const payload = unpackPayload(fields);
  return deliverySchema.parse({ guid, event, payload, receivedAtMs: Number(receivedAtMs) });
}
