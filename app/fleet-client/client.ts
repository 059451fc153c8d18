/**
 * The typed client of `/fleet/v1`. It asks each thing once: whether a call may be made again is for the caller to say,
 * who knows how long the lease lasts. Every answer is checked.
 */
import type { z } from 'zod';
import {
  beginAnswerSchema,
  type CheckoutAnswer,
  type ClaimAnswer,
  checkoutAnswerSchema,
  claimAnswerSchema,
  type HostRequest,
  type HostResponse,
  heartbeatAnswerSchema,
  hostResponseSchema,
  LaneError,
  type LookUpAnswer,
  type LookUpQuery,
  lookUpAnswerSchema,
  type PendingAnswer,
  pendingAnswerSchema,
  type RecordedAnswer,
  type RunEnd,
  recordedAnswerSchema,
  type UploadAnswer,
  uploadAnswerSchema,
  uploadHeaders,
} from '../../lanes/index.ts';
import { callFleet, type FleetAddress, type FleetCall, type FleetReply } from './http.ts';

/** A piece of a patch. */
export interface PatchPiece {
  /** Where it begins: what the App has. */
  readonly offset: number;
  /** How long the whole patch is, in bytes. */
  readonly length: number;
  /** Of the whole patch. */
  readonly sha256: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Each call throws LaneError: `app_unreachable` where nobody answers; `identity_required`, `namespace_not_granted`,
 * `fleet_queue_off_limits`, `unknown_namespace`; with a lease also `lease_lost`.
 */
export interface FleetClient {
  pending(namespace?: string): Promise<PendingAnswer>;
  /** Null where no work came within `waitMs`. */
  claim(namespace: string, waitMs: number, signal?: AbortSignal): Promise<ClaimAnswer | null>;
  /** @returns in how many ms the lease ends. */
  heartbeat(lease: string, progress?: string): Promise<number>;
  begin(lease: string): Promise<void>;
  lookUp(lease: string, query: LookUpQuery): Promise<LookUpAnswer>;
  checkout(lease: string): Promise<CheckoutAnswer>;
  /** How much of the patch the App has. */
  patchState(lease: string): Promise<UploadAnswer>;
  /** @throws LaneError `task_conflict` where the App has another offset, `invalid_result` where the hash differs. */
  putPatch(lease: string, piece: PatchPiece, signal?: AbortSignal): Promise<UploadAnswer>;
  /** @throws LaneError `proof_unverified`, `invalid_result`: nothing is recorded then. */
  complete(lease: string, end: RunEnd): Promise<RecordedAnswer>;
  park(lease: string, end: RunEnd): Promise<RecordedAnswer>;
  handBack(lease: string, why: string): Promise<RecordedAnswer>;
  host(request: HostRequest): Promise<HostResponse>;
}

/** An ordinary call. */
const answerMs = 30_000;
/** The App asks GitHub for the answer, and waits for GitHub's limits. */
const askingGitHubMs = 120_000;
/** A heartbeat that hangs must leave time for another one. */
const heartbeatMs = 4_000;

export function makeFleetClient(address: FleetAddress): FleetClient {
  const ask = async <T>(schema: z.ZodType<T>, call: FleetCall): Promise<T> =>
    parse(schema, await callFleet(address, call));
  const post = <T>(schema: z.ZodType<T>, path: string, json: unknown, timeoutMs = answerMs): Promise<T> =>
    ask(schema, { method: 'POST', path, json, timeoutMs });

  return {
    pending(namespace) {
      const query = namespace === undefined ? '' : `?namespace=${encodeURIComponent(namespace)}`;
      return ask(pendingAnswerSchema, { method: 'GET', path: `/pending${query}`, timeoutMs: answerMs });
    },
    async claim(namespace, waitMs, signal) {
      const timeoutMs = waitMs + askingGitHubMs;
      const json = { namespace, waitMs };
      const reply = await callFleet(address, { method: 'POST', path: '/claim', json, timeoutMs, signal });
      return reply.status === 204 ? null : parse(claimAnswerSchema, reply);
    },
    async heartbeat(lease, progress) {
      const body = progress === undefined ? {} : { progress };
      return (await post(heartbeatAnswerSchema, at(lease, 'heartbeat'), body, heartbeatMs)).endsInMs;
    },
    begin: async (lease) => void (await post(beginAnswerSchema, at(lease, 'begin'), {})),
    lookUp: (lease, query) => post(lookUpAnswerSchema, at(lease, 'lookup'), { query }, askingGitHubMs),
    checkout: (lease) =>
      ask(checkoutAnswerSchema, { method: 'GET', path: at(lease, 'checkout'), timeoutMs: askingGitHubMs }),
    async patchState(lease) {
      const path = at(lease, 'patch');
      const { headers } = await callFleet(address, { method: 'HEAD', path, timeoutMs: answerMs });
      const offset = Number(headers.get(uploadHeaders.offset) ?? Number.NaN);
      const complete = headers.get(uploadHeaders.complete) === '?1';
      return sound(uploadAnswerSchema.safeParse({ complete, offset }));
    },
    putPatch: (lease, piece, signal) => ask(uploadAnswerSchema, putCall(lease, piece, signal)),
    complete: (lease, end) => post(recordedAnswerSchema, at(lease, 'complete'), { end }),
    park: (lease, end) => post(recordedAnswerSchema, at(lease, 'park'), { end }),
    handBack: (lease, why) => post(recordedAnswerSchema, at(lease, 'park'), { handBack: why.slice(0, 500) }),
    host: (request) => post(hostResponseSchema, '/host', request, askingGitHubMs),
  };
}

function at(lease: string, verb: string): string {
  return `/leases/${encodeURIComponent(lease)}/${verb}`;
}

function putCall(lease: string, piece: PatchPiece, signal: AbortSignal | undefined): FleetCall {
  const headers = {
    [uploadHeaders.offset]: String(piece.offset),
    [uploadHeaders.length]: String(piece.length),
    [uploadHeaders.sha256]: piece.sha256,
  };
  const { bytes } = piece;
  return { method: 'PUT', path: at(lease, 'patch'), bytes, headers, timeoutMs: askingGitHubMs, signal };
}

function parse<T>(schema: z.ZodType<T>, { body }: FleetReply): T {
  return sound(schema.safeParse(body));
}

/** An answer of another form is of another version, or not the App's: nothing of it can be trusted. */
function sound<T>(parsed: z.ZodSafeParseResult<T>): T {
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues.map(({ path }) => path.join('.')).slice(0, 5);
  throw new LaneError(
    'invalid_config',
    `LANES_APP_URL: the App answers what this version does not know: ${where.join(', ')}`,
  );
}
