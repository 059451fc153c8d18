/**
 * /fleet/v1: the verbs of a lane for boxes, over HTTP. A box has a token and no access to Redis or GitHub; what it holds of a
 * run is a signed lease. docs/fleet.md tells the calls.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import {
  heartbeatBodySchema,
  hostRequestSchema,
  isLaneError,
  LaneError,
  lookUpBodySchema,
} from '../../lanes/index.ts';
import { answerHost } from '../child/host-server.ts';
import { answerError, type Call, type Env, leaseOf, readJson, refusal } from './call.ts';
import { claim, pending } from './claim.ts';
import { complete, park } from './finish.ts';
import { makeHandedOut } from './handed-out.ts';
import { identify, takeBack } from './identity.ts';
import { patchState, putPatch } from './patches.ts';
import type { FleetDeps } from './port.ts';

export interface Fleet {
  /** Answers one request under /fleet/v1. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Ends claims that wait, so that the server can close. */
  close(): void;
}

export const fleetPath = '/fleet/v1';

export function makeFleet(deps: FleetDeps): Fleet {
  const closing = new AbortController();
  const handedOut = makeHandedOut();
  const app = new Hono<Env>().basePath(fleetPath);
  app.onError(async (error, c) => {
    await takeBackFromStranger(deps, c, error);
    return answerError(deps, c, error);
  });
  app.use(async (c, next) => {
    c.header('cache-control', 'no-store');
    if (!deps.expectsBoxes && !deps.tokens.any()) throw new LaneError('not_found');
    await identify(deps, c);
    await next();
  });
  app.notFound((c) => answerError(deps, c, new LaneError('not_found')));
  app.get('/pending', (c) => pending(deps, c));
  app.post('/claim', (c) => claim(deps, c, closing.signal, handedOut));
  app.post('/host', (c) => host(deps, c));
  app.post('/leases/:lease/heartbeat', (c) => heartbeat(deps, c));
  app.post('/leases/:lease/begin', (c) => begin(deps, c));
  app.post('/leases/:lease/lookup', (c) => lookUp(deps, c));
  app.get('/leases/:lease/checkout', (c) => checkout(deps, c));
  app.get('/leases/:lease/patch', (c) => patchState(deps, c));
  app.put('/leases/:lease/patch', (c) => putPatch(deps, c));
  app.post('/leases/:lease/complete', (c) => complete(deps, c, handedOut));
  app.post('/leases/:lease/park', (c) => park(deps, c));
  const listener = getRequestListener((request, env) => app.fetch(request, env));
  return {
    handle: (request, response) => void listener(request, response),
    close: () => closing.abort(),
  };
}

/** A grant for this one namespace may be gone while the worker has others. */
async function takeBackFromStranger(deps: FleetDeps, c: Call, error: unknown): Promise<void> {
  const caller: Call['var']['caller'] | undefined = c.get('caller');
  if (caller === undefined) return;
  if (!isLaneError(error, 'namespace_not_granted') && !isLaneError(error, 'fleet_queue_off_limits')) return;
  await takeBack(deps, c, caller.identity, 'its worker may not have the namespace any more');
}

async function heartbeat(deps: FleetDeps, c: Call): Promise<Response> {
  const lease = leaseOf(deps, c);
  const { progress } = await readJson(c, heartbeatBodySchema);
  await deps.engine.renew(c.get('caller'), lease, progress);
  return c.json({ endsInMs: deps.leaseTtlMs });
}

async function begin(deps: FleetDeps, c: Call): Promise<Response> {
  await deps.engine.begin(c.get('caller'), leaseOf(deps, c));
  return c.json({});
}

async function lookUp(deps: FleetDeps, c: Call): Promise<Response> {
  const lease = leaseOf(deps, c);
  const { query } = await readJson(c, lookUpBodySchema);
  await deps.engine.begin(c.get('caller'), lease);
  return c.json(await deps.host.lookUp(lease, query));
}

/** The token goes to whoever holds the lease, and nowhere else. */
async function checkout(deps: FleetDeps, c: Call): Promise<Response> {
  const lease = leaseOf(deps, c);
  await deps.engine.begin(c.get('caller'), lease);
  return c.json(await deps.host.checkout(lease));
}

/** The host port of a worker that reaches Redis itself: its leases are its own word, so the store is asked. */
async function host(deps: FleetDeps, c: Call): Promise<Response> {
  const caller = c.get('caller');
  const request = await readJson(c, hostRequestSchema);
  const { lease } = request;
  if (lease.worker !== caller.identity) {
    const why = "the lease is another worker's";
    throw refusal(deps, c, { by: caller.identity, namespace: lease.namespace, code: 'lease_lost', why });
  }
  await deps.engine.begin(caller, lease);
  return c.json(await answerHost(deps.host, request));
}
