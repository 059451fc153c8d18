/**
 * The door: our one HTTP server. A webhook is answered 202 only when its raw delivery is durable; nothing is worked on
 * here. Sizes, times and memory are bounded before anything is known about the sender. Boxes come through it too; what
 * is under /fleet/v1 is handed on.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { Delivery } from '../../lanes/index.ts';
import { type Fleet, fleetPath } from '../fleet/index.ts';
import { makeByteBudget, readBody, type Share } from './body.ts';
import {
  makeDelivery,
  makeSignatureCheck,
  type Refusal,
  readHead,
  type SignatureCheck,
  tooLarge,
} from './delivery.ts';

export const webhookPath = '/api/github/webhooks';

/** GitHub gives up after 10 s; an answer must come well before. */
const recordWithinMs = 5_000;
const readyWithinMs = 2_000;

export interface DoorDeps {
  readonly secret: string;
  /** Makes a delivery durable, once for its GUID. */
  readonly recordDelivery: (delivery: Delivery) => Promise<'recorded' | 'duplicate'>;
  /** Whether Redis answers. A rejection is a no. */
  readonly isReady: () => Promise<boolean>;
  readonly now: () => number;
  readonly log: Pick<Logger, 'warn'>;
  /** Answers what boxes ask. */
  readonly fleet?: Pick<Fleet, 'handle'>;
}

/** An answer: what is told to the sender, and whether it may try again. */
interface Answer {
  readonly status: number;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

/** Makes the server; the composition root lets it listen and closes it. */
export function createDoor(deps: DoorDeps): Server {
  const check = makeSignatureCheck(deps.secret);
  const budget = makeByteBudget();
  const handle = (request: IncomingMessage, response: ServerResponse, goOn: () => void) => {
    if (deps.fleet !== undefined && request.url?.startsWith(`${fleetPath}/`))
      return deps.fleet.handle(request, response);
    const share = budget.share();
    route(deps, check, share, request, goOn)
      .catch((error: unknown): Answer => {
        deps.log.warn({ err: error }, 'the door could not answer');
        return { status: 500, message: 'Something went wrong here.' };
      })
      .then((answer) => answer !== null && send(response, answer))
      .finally(() => share.release());
  };
  // A sender that is slow on purpose is cut off: its headers in 10 s, the whole request in 30 s.
  const server = createServer({
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    keepAliveTimeout: 5_000,
    connectionsCheckingInterval: 2_000,
    maxHeaderSize: 16 * 1024,
  });
  server.maxConnections = 1_000;
  server.on('request', (request, response) => handle(request, response, () => {}));
  // With `Expect: 100-continue` the sender waits for our word: a refusal then costs no upload at all.
  server.on('checkContinue', (request, response) =>
    handle(request, response, () => response.writeContinue()),
  );
  return server;
}

/** Null where there is nobody left to answer. */
async function route(
  deps: DoorDeps,
  check: SignatureCheck,
  share: Share,
  request: IncomingMessage,
  goOn: () => void,
): Promise<Answer | null> {
  const path = (request.url ?? '').split('?', 1)[0];
  if (request.method === 'POST' && path === webhookPath)
    return takeWebhook(deps, check, share, request, goOn);
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (isRead && path === '/healthz') return { status: 200, message: 'alive' };
  if (isRead && path === '/readyz') return answerReady(deps);
  return { status: 404, message: 'There is nothing here.' };
}

async function takeWebhook(
  deps: DoorDeps,
  check: SignatureCheck,
  share: Share,
  request: IncomingMessage,
  goOn: () => void,
): Promise<Answer | null> {
  const head = readHead(request.headers);
  if ('status' in head) return head;
  goOn();
  const reading = await readBody(request, share);
  if (reading.kind === 'aborted') return null;
  if (reading.kind === 'too_large') return tooLarge;
  if (reading.kind === 'busy') return unavailable('Too many payloads at one time.');
  const payload: string | Refusal = await check(head, reading.bytes);
  if (typeof payload !== 'string') return payload;
  return record(deps, makeDelivery(head, payload, deps.now()));
}

/** A delivery that is recorded after its 503 is no harm: the GUID makes it one. */
async function record(deps: DoorDeps, delivery: Delivery): Promise<Answer> {
  const { guid, event } = delivery;
  const outcome = await within(recordWithinMs, deps.recordDelivery(delivery)).catch((error: unknown) => {
    deps.log.warn({ err: error, guid, event }, 'a delivery could not be recorded');
    return 'failed' as const;
  });
  if (outcome === 'late') deps.log.warn({ guid, event }, 'Redis did not take a delivery in time');
  if (outcome !== 'late' && outcome !== 'failed') return { status: 202, message: outcome };
  return unavailable('The delivery could not be recorded. Redeliver it.');
}

async function answerReady(deps: DoorDeps): Promise<Answer> {
  const ready = await within(readyWithinMs, deps.isReady()).catch(() => false);
  return ready === true ? { status: 200, message: 'ready' } : unavailable('Redis does not answer.');
}

function unavailable(message: string): Answer {
  return { status: 503, message, retryAfterSeconds: 5 };
}

/** The outcome of `work`, or `late` where it takes longer. */
function within<T>(ms: number, work: Promise<T>): Promise<T | 'late'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function send(response: ServerResponse, { status, message, retryAfterSeconds }: Answer): void {
  if (response.destroyed) return;
  const body = JSON.stringify(
    status < 400 ? { status: message } : { error: { message, retryable: status >= 500 } },
  );
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
  });
  response.end(body);
}
