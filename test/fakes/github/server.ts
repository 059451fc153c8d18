/**
 * The one port: reads a request, finds who calls and what is meant, lets the room or emulate answer, and logs it.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { passOn, repoFacts, visible } from './access.ts';
import type { Answer, Call, Caller, Route } from './call.ts';
import { at, Refusal } from './call.ts';
import { callerOf } from './callers.ts';
import { kindOf, type RequestLog, sideOf } from './counts.ts';
import { badGateway, type Faults, type FaultWish, secondaryLimit } from './faults.ts';
import { type GitHttp, gitRequestOf } from './githttp.ts';
import { presentPath, withoutPrefix } from './paths.ts';
import { matcher } from './routes.ts';
import { anyShown } from './shown.ts';
import type { World } from './world.ts';

const maxBodyBytes = 25_000_000;

export interface Rooms {
  world: World;
  routes: Route[];
  git: GitHttp;
  faults: Faults;
  log: RequestLog;
  /** Ends slow answers when the stand-in closes. */
  closing: AbortSignal;
}

/** Makes the server; it listens when the caller says so. */
export function makeServer(rooms: Rooms): Server {
  const match = matcher(rooms.routes);
  return createServer((request, response) => {
    void handle(rooms, match, request, response).catch((error: unknown) => {
      if (response.destroyed) return;
      send(request, response, failure(error));
    });
  });
}

interface Asked {
  method: string;
  path: string;
  query: string;
}

function askedOf(request: IncomingMessage): Asked {
  const url = request.url ?? '/';
  const cut = url.indexOf('?');
  const path = withoutPrefix(cut < 0 ? url : url.slice(0, cut));
  return { method: request.method ?? 'GET', path, query: cut < 0 ? '' : url.slice(cut) };
}

type Match = ReturnType<typeof matcher>;

async function handle(
  rooms: Rooms,
  match: Match,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const asked = askedOf(request);
  const control = asked.path.startsWith('/_control/');
  const fault = control ? undefined : rooms.faults.take(asked.method, asked.path);
  const side = sideOf(request.headers.authorization, gitRequestOf(asked.path, '') !== undefined);
  const { method, path } = asked;
  const entry = { method, path, status: 0, side, kind: kindOf(method, path) };
  if (!control) rooms.log.add(entry);
  if (fault?.kind === 'drop') {
    request.socket.destroy();
    return;
  }
  try {
    entry.status = await serve(rooms, match, { asked, fault, request, response });
  } catch (error) {
    entry.status = send(request, response, failure(error));
  }
}

interface Exchange {
  asked: Asked;
  fault: FaultWish | undefined;
  request: IncomingMessage;
  response: ServerResponse;
}

/** Answers one request and gives back the status. */
async function serve(
  rooms: Rooms,
  match: Match,
  { asked, fault, request, response }: Exchange,
): Promise<number> {
  refuseBefore(fault);
  const git = gitRequestOf(asked.path, asked.query.slice(1));
  if (git) {
    await rooms.git.serve(git, request, response);
    return response.statusCode;
  }
  const caller = callerOf(rooms.world, request.headers);
  const answer = await answerTo(rooms.world, match, asked, caller, request);
  if (fault?.kind === 'slow') await wait(fault.delayMs ?? 1_000, undefined, { signal: rooms.closing });
  if (fault?.kind === '502_after_write') throw badGateway();
  return send(request, response, answer);
}

function refuseBefore(fault: FaultWish | undefined): void {
  if (fault?.kind === '502_before') throw badGateway();
  if (fault?.kind === '403_retry_after') throw secondaryLimit(fault.retryAfterS ?? 1);
}

async function answerTo(
  world: World,
  match: Match,
  asked: Asked,
  caller: Caller,
  request: IncomingMessage,
): Promise<Answer> {
  const body = await read(request);
  const path = presentPath(world, asked.method, asked.path, asked.query);
  const query = new URLSearchParams(asked.query);
  const call: Call = { method: asked.method, path, query, headers: request.headers, body, caller };
  const found = match(call.method, call.path);
  const answer = found ? await found.handle(call, found.params) : await passOn(world, call);
  const shown = answer.body === undefined ? answer : { ...answer, body: anyShown(world, answer.body) };
  return githubsWords(world, call, shown);
}

/** A refusal of emulate in GitHub's words: hidden repositories are 404, issues switched off are 410. */
async function githubsWords(world: World, call: Call, answer: Answer): Promise<Answer> {
  if (![401, 403, 404].includes(answer.status)) return answer;
  const [, owner, name, rest] = /^\/repos\/([^/]+)\/([^/]+)(\/.*)?$/.exec(call.path) ?? [];
  const repo = owner && name ? world.repos.named(owner, name) : undefined;
  if (!repo) return answer;
  if (!(await visible(world, call.caller, repo))) throw new Refusal(404, 'Not Found');
  if (rest?.startsWith('/issues') && (await repoFacts(world, repo)).has_issues === false) {
    throw new Refusal(410, 'Issues are disabled for this repo');
  }
  if (call.caller.kind === 'installation' && at(answer.body, 'message') === 'Forbidden') {
    throw new Refusal(403, 'Resource not accessible by integration');
  }
  return answer;
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > maxBodyBytes) throw new Refusal(413, 'Payload Too Large');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function failure(error: unknown): Answer {
  if (error instanceof Refusal) return error.answer;
  return { status: 500, body: { message: error instanceof Error ? error.message : String(error) } };
}

/** Writes the answer, as 304 where the caller has it already, and gives back the status. */
function send(request: IncomingMessage, response: ServerResponse, answer: Answer): number {
  const bytes = payloadOf(answer);
  const headers: Record<string, string> = {
    'x-github-media-type': 'github.v3; format=json',
    ...answer.headers,
  };
  if (answer.body !== undefined) headers['content-type'] ??= 'application/json; charset=utf-8';
  let status = answer.status;
  if (request.method === 'GET' && status === 200) {
    headers.etag = `W/"${createHash('sha256').update(bytes).digest('hex')}"`;
    if (request.headers['if-none-match'] === headers.etag) status = 304;
  }
  if (response.headersSent) return response.statusCode;
  response.writeHead(status, headers);
  response.end(status === 304 || status === 204 ? undefined : bytes);
  return status;
}

function payloadOf(answer: Answer): Buffer {
  if (answer.bytes) return answer.bytes;
  if (answer.text !== undefined) return Buffer.from(answer.text);
  return answer.body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(answer.body));
}

/** Closes a server at once, with every connection that is open. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
