/** One call: who makes it, on which lease, with what body; and how a failure is answered. */
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { z } from 'zod';
import type { Caller } from '../../lanes/index.ts';
import {
  isLaneError,
  LaneError,
  type Lease,
  maxFleetJsonBytes,
  type RefusalEvent,
} from '../../lanes/index.ts';
import type { FleetDeps } from './port.ts';

export type Env = { Bindings: HttpBindings; Variables: { caller: Caller } };
export type Call = Context<Env>;

/** The name of a call for the ledger: its last part, without the lease. */
export function verbOf(c: Call): string {
  return c.req.path.slice(c.req.path.lastIndexOf('/') + 1).slice(0, 40);
}

/** A refusal of ours: it is told to the ledger, and thrown by the caller. */
export function refusal(
  deps: FleetDeps,
  c: Call,
  of: { by: string; namespace?: string; code: RefusalEvent['code']; why?: string },
): LaneError {
  const { by, namespace = '', code, why } = of;
  const verb = `fleet.${verbOf(c)}`;
  const named = { by: by.slice(0, 128), namespace: namespace.slice(0, 100) };
  deps.refused({ event: 'refused', verb, ...named, code, atMs: Date.now() });
  return new LaneError(code, why);
}

/**
 * The lease in the address, if it is a text of ours for this caller.
 * @throws LaneError `lease_lost`.
 */
export function leaseOf(deps: FleetDeps, c: Call): Lease {
  const caller = c.get('caller');
  const lease = deps.leases.open(c.req.param('lease') ?? '');
  if (lease?.worker === caller.identity) return lease;
  throw refusal(deps, c, {
    by: caller.identity,
    namespace: lease?.namespace ?? '',
    code: 'lease_lost',
    why: lease === null ? 'this is no lease' : "the lease is another worker's",
  });
}

/**
 * The body as JSON of this shape; nothing at all counts as an empty object.
 * @throws LaneError `invalid_request`, `unknown_namespace`.
 */
export async function readJson<S extends z.ZodType>(c: Call, schema: S): Promise<z.infer<S>> {
  const text = await readText(c);
  let raw: unknown;
  try {
    raw = text === '' ? {} : JSON.parse(text);
  } catch (cause) {
    throw new LaneError('invalid_request', 'the body is no JSON', { cause });
  }
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  const paths = parsed.error.issues.map(({ path }) => path.map(String).join('.') || 'the body');
  throw new LaneError('invalid_request', [...new Set(paths)].slice(0, 5).join(', '));
}

async function readText({ env: { incoming, outgoing } }: Call): Promise<string> {
  goOn(incoming, outgoing);
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of incoming) {
    bytes += piece.length;
    if (bytes > maxFleetJsonBytes)
      throw new LaneError('invalid_request', `more than ${maxFleetJsonBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces, bytes).toString('utf8');
}

/** A sender that waits for our word before its body gets it here: whoever is refused earlier sends none. */
export function goOn(incoming: HttpBindings['incoming'], outgoing: HttpBindings['outgoing']): void {
  if (incoming.headers.expect !== undefined) outgoing.writeContinue();
}

/** Every failure has one form. What is no refusal of ours is logged, and tells nothing. */
export function answerError(deps: FleetDeps, c: Call, error: unknown): Response {
  const told = isLaneError(error) ? error : new LaneError('internal');
  if (told !== error) deps.log.error({ err: error, verb: verbOf(c) }, 'a call of the fleet failed');
  return refuseWith(c, told, told.status);
}

/** Answers with an error, under another status than its own where HTTP has a better one. */
export function refuseWith(c: Call, { code, message, retryable }: LaneError, status: number): Response {
  return c.json({ error: { code, message, retryable } }, status as 400);
}
