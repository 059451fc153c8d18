/**
 * The consumer: takes recorded deliveries and hands them to Probot, those of one issue in the order in which they came,
 * up to eight issues at once. What fails goes back to the queue, which sets it aside after some tries.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Delivery } from '../../lanes/index.ts';
import { makeChains, makeSlots } from './order.ts';

const issuesAtOnce = 8;
/** Taken and not yet ended; bounds the memory. */
const maxHeld = 32;
/** How long one read waits for deliveries; a stop waits for it at most. */
const blockMs = 1_000;
/** A hook that takes longer is taken for hung: the others of its issue go on. */
const receiveWithinMs = 120_000;
const retryTakeMs = 1_000;

export interface TakenDelivery {
  /** Its id in the queue. */
  readonly id: string;
  readonly delivery: Delivery;
}

/** The durable queue of deliveries. */
export interface DeliveryQueue {
  /** Up to `count` deliveries; an empty list after `blockMs` without one. */
  take(limits: { count: number; blockMs: number }): Promise<readonly TakenDelivery[]>;
  done(id: string): Promise<void>;
  /** Gives it back to be tried again; after some tries the queue sets it aside. */
  failed(id: string, why: string): Promise<unknown>;
}

/** What `probot.receive` takes. The payload is a JSON object; its hooks check the rest. */
export interface ReceivedEvent {
  readonly id: string;
  readonly name: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface ConsumerDeps {
  readonly queue: DeliveryQueue;
  readonly receive: (event: ReceivedEvent) => Promise<void>;
  readonly log: Pick<Logger, 'warn'>;
}

export interface Consumer {
  /** Takes no more, finishes what was taken, and resolves. */
  stop(): Promise<void>;
}

export function startConsumer(deps: ConsumerDeps): Consumer {
  const stopping = new AbortController();
  const held = new Map<string, Promise<void>>();
  const inOrder = makeChains(makeSlots(issuesAtOnce));
  const begin = (taken: TakenDelivery) => {
    // The queue hands out again what takes long; this one is still being worked on.
    if (held.has(taken.id)) return;
    const parsed = parse(taken.delivery);
    const work = inOrder(orderKey(taken, parsed), () => handle(deps, taken, parsed));
    held.set(
      taken.id,
      work.finally(() => held.delete(taken.id)),
    );
  };
  const loop = async () => {
    while (!stopping.signal.aborted) {
      if (held.size >= maxHeld) await Promise.race(held.values());
      else for (const taken of await takeSome(deps, maxHeld - held.size, stopping.signal)) begin(taken);
    }
  };
  const ended = loop();
  return {
    async stop() {
      stopping.abort();
      await ended;
      await Promise.all(held.values());
    },
  };
}

async function takeSome(
  deps: ConsumerDeps,
  count: number,
  stopping: AbortSignal,
): Promise<readonly TakenDelivery[]> {
  try {
    return await deps.queue.take({ count, blockMs });
  } catch (error) {
    deps.log.warn({ err: error }, 'deliveries could not be taken; trying again');
    await wait(retryTakeMs, undefined, { signal: stopping }).catch(() => {});
    return [];
  }
}

/** Hands one delivery over. It never throws: what goes wrong is the queue's to know, else the log's. */
async function handle(deps: ConsumerDeps, { id, delivery }: TakenDelivery, parsed: Parsed): Promise<void> {
  const { guid, event } = delivery;
  try {
    const why = 'why' in parsed ? parsed.why : await hand(deps, delivery, parsed.payload);
    if (why === null) return await deps.queue.done(id);
    deps.log.warn({ guid, event, why }, 'a delivery failed');
    await deps.queue.failed(id, why);
  } catch (error) {
    // The queue itself failed. The entry is still pending there, and comes again.
    deps.log.warn({ err: error, guid, event }, 'the end of a delivery could not be recorded');
  }
}

/** Null when Probot has handled it, else why not. */
async function hand(deps: ConsumerDeps, { guid, event }: Delivery, payload: ReceivedEvent['payload']) {
  const deadline = new AbortController();
  try {
    const late = wait(receiveWithinMs, `no end after ${receiveWithinMs} ms`, {
      signal: deadline.signal,
      ref: false,
    });
    const handled = deps.receive({ id: guid, name: event, payload }).then(() => null);
    return await Promise.race([handled, late]);
  } catch (error) {
    return explain(error);
  } finally {
    deadline.abort();
  }
}

/** Probot throws an AggregateError of what its handlers threw. */
function explain(error: unknown): string {
  const errors: unknown[] = error instanceof AggregateError ? error.errors : [error];
  return errors
    .map((one) => (one instanceof Error ? `${one.name}: ${one.message}` : String(one)))
    .join('; ')
    .slice(0, 500);
}

type Parsed = { readonly payload: ReceivedEvent['payload'] } | { readonly why: string };

const payloadSchema = z.record(z.string(), z.unknown());

function parse({ payload }: Delivery): Parsed {
  try {
    const parsed = payloadSchema.safeParse(JSON.parse(payload));
    return parsed.success ? { payload: parsed.data } : { why: 'the payload is not a JSON object' };
  } catch {
    return { why: 'the payload is not JSON' };
  }
}

const idSchema = z.looseObject({ id: z.int() });
const issueKeySchema = z.object({ repository: idSchema, issue: z.looseObject({ number: z.int() }) });
const installationKeySchema = z.object({ installation: idSchema });

/** Deliveries with one key are handled one after the other: those of an issue, else those of an installation. */
function orderKey({ id }: TakenDelivery, parsed: Parsed): string {
  const payload = 'payload' in parsed ? parsed.payload : {};
  const issue = issueKeySchema.safeParse(payload).data;
  if (issue) return `issue ${issue.repository.id} ${issue.issue.number}`;
  const installation = installationKeySchema.safeParse(payload).data;
  return installation ? `installation ${installation.installation.id}` : `delivery ${id}`;
}
