/** The fleet API behind the real door, on a real engine; GitHub is what the test says. */
import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import pino from 'pino';
import { makeFleet } from '../../../app/fleet/index.ts';
import { loadLeaseKey, makeLeaseTexts } from '../../../app/fleet/lease-text.ts';
import type { FleetDeps } from '../../../app/fleet/port.ts';
import { makeTokenCheck } from '../../../app/fleet/token-check.ts';
import { addToken } from '../../../app/fleet/token-file.ts';
import { createDoor } from '../../../app/intake/door.ts';
import {
  type Engine,
  fillLane,
  type Lane,
  type Lease,
  openUploads,
  openWorkplace,
  type RunInput,
  type Task,
} from '../../../lanes/index.ts';
import { makeCaller, type Namespace } from '../../../lanes/namespaces.ts';
import { laneSchema } from '../../../lanes/records/config.ts';
import { type ClaimAnswer, claimAnswerSchema, fleetErrorSchema } from '../../../lanes/records/fleet.ts';
import type { RefusalEvent } from '../../../lanes/records/ledger.ts';
import { agentLane } from '../../support/engine.ts';
import { lane } from '../../support/tasks.ts';

export const boxLanes: readonly Lane[] = [
  fillLane('triage', laneSchema.parse({ agent: { kind: 'checks' } })),
  fillLane('boxed', laneSchema.parse({ agent: { kind: 'checks' }, namespace: agentLane })),
];

export interface FleetWorld {
  readonly url: string;
  readonly dataDir: string;
  /** The token of `box-42`, which drains agent:42, and of `box-7`, which may work in the lane. */
  readonly token: string;
  readonly other: string;
  readonly deps: FleetDeps;
  readonly refusals: RefusalEvent[];
  /** All that was logged, as text. */
  readonly logged: () => string;
  /** How many connections the server sees. */
  connections(): Promise<number>;
  stop(): Promise<void>;
}

/** Everything is allowed, and nothing is known of the issue but what the task says. */
export function openHost(engine: Pick<Engine, 'get'>): FleetDeps['host'] {
  const inputOf = async (lease: Lease): Promise<Omit<RunInput, 'clone'>> => {
    const task = await engine.get(makeCaller('app', [lease.namespace]), lease.namespace, lease.task);
    if (task === null) throw new Error('no task');
    return boxInput(task);
  };
  const clone = { url: 'http://127.0.0.1/acme/app.git', token: 'ghs_checkout-token' };
  return {
    mayBegin: async (lease) => ({ allowed: true, input: await inputOf(lease) }),
    allowed: async (lease) => ({ allowed: true, input: { ...(await inputOf(lease)), clone } }),
    checkout: async () => clone,
    lookUp: async (_lease, query) => ({ found: true, how: query.kind }),
  };
}

export function boxInput({
  issue,
  title,
  criteria,
}: Pick<Task, 'issue' | 'title' | 'criteria'>): Omit<RunInput, 'clone'> {
  const url = `https://github.com/${issue.repository}/issues/${issue.number}`;
  const rest = { author: 'maria', labels: [], comments: [], stripped: [], proves: {} };
  return { issue, url, title, body: 'A body', criteria, ...rest };
}

export async function startFleet(engine: Engine, more: Partial<FleetDeps> = {}): Promise<FleetWorld> {
  const dataDir = await mkdtemp(join(tmpdir(), 'lanes-fleet-'));
  const place = await openWorkplace({ dataDir, instance: 'app', now: Date.now, id: () => 'id' });
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const log = pino({ level: 'trace' }, sink);
  const refusals: RefusalEvent[] = [];
  const grants = new Map<string, readonly Namespace[]>([
    ['box-42', [agentLane]],
    ['box-7', [lane]],
  ]);
  const deps: FleetDeps = {
    engine,
    appCaller: (namespace) => makeCaller('app', [namespace]),
    host: openHost(engine),
    lanes: boxLanes,
    grants,
    expectsBoxes: true,
    tokens: makeTokenCheck(dataDir, log),
    leases: makeLeaseTexts(loadLeaseKey(dataDir)),
    uploads: openUploads(place),
    refused: (refusal) => void refusals.push(refusal),
    log,
    leaseTtlMs: 15_000,
    heartbeatEveryMs: 5_000,
    lookEveryMs: 10,
    ...more,
  };
  const token = (await addToken(dataDir, 'box-42', 1)).token;
  const other = (await addToken(dataDir, 'box-7', 2)).token;
  const fleet = makeFleet(deps);
  const server = createDoor({
    secret: 'a secret of the webhook',
    recordDelivery: async () => 'recorded',
    isReady: async () => true,
    now: Date.now,
    log,
    fleet,
  });
  const url = await listening(server);
  return {
    url,
    dataDir,
    token,
    other,
    deps,
    refusals,
    logged: () => lines.join(''),
    connections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
      ),
    async stop() {
      fleet.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export interface CallOptions {
  /** Null for none. */
  readonly token?: string | null;
  /** As JSON. */
  readonly json?: unknown;
  readonly body?: string | Buffer;
  readonly headers?: Record<string, string>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** One call, as `box-42` unless the test says otherwise. */
export async function call(
  world: Pick<FleetWorld, 'url' | 'token'>,
  method: string,
  path: string,
  { token = world.token, json, body, headers = {} }: CallOptions = {},
): Promise<Answer> {
  const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
  const sent = json === undefined ? body : JSON.stringify(json);
  const response = await fetch(`${world.url}/fleet/v1${path}`, {
    method,
    headers: { ...authorization, ...headers },
    ...(sent === undefined ? {} : { body: typeof sent === 'string' ? sent : new Uint8Array(sent) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
}

/** Claims the next run of agent:42 as its box. */
export async function claimed(world: FleetWorld): Promise<ClaimAnswer> {
  const answer = await call(world, 'POST', '/claim', { json: { namespace: agentLane } });
  if (answer.status !== 200) throw new Error(`claim: ${answer.status} ${JSON.stringify(answer.body)}`);
  return claimAnswerSchema.parse(answer.body);
}

/** What a refusal says. */
export function refusedWith({ status, body }: Answer): [status: number, code: string] {
  return [status, fleetErrorSchema.parse(body).error.code];
}

/** Headers of a piece of a patch. */
export function piece(offset: number, whole: Buffer, sha256: string): Record<string, string> {
  return {
    'upload-offset': String(offset),
    'upload-length': String(whole.length),
    'upload-sha256': sha256,
  };
}
