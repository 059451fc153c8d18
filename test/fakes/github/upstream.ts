/**
 * emulate, kept behind the proxy: it holds the state of issues, comments, labels and people.
 *
 * It advertises `localhost:<port>` and knows Apps by the slug of a slot, so texts are translated both ways. It limits
 * each token to 5,000 requests an hour, but takes any unknown token for its first person: the proxy's own reads use a
 * fresh one every 4,000 requests.
 */
import { createEmulator } from 'emulate';
import type { Answer, JsonObject } from './call.ts';
import { at, isObject, Refusal } from './call.ts';

interface UpstreamRequest {
  method: string;
  /** Path with its query. */
  path: string;
  /** Value of the authorization header; none means anonymous. */
  authorization?: string | undefined;
  body?: Buffer | undefined;
  accept?: string | undefined;
}

export interface Upstream {
  /** Sends a request on somebody's behalf and gives back what emulate said. */
  send(request: UpstreamRequest): Promise<Answer>;
  /** A request by the proxy itself, as the first person; throws a Refusal when emulate refuses. */
  own(method: string, path: string, body?: JsonObject): Promise<unknown>;
  /** Like `own` for reads, with undefined for 404. */
  find(path: string): Promise<unknown>;
  close(): Promise<void>;
}

export interface Translation {
  /** Text that emulate uses -> text that callers see. */
  pairs(): Array<[inner: string, outer: string]>;
  publicHost(): string;
}

const tokenUses = 4_000;

/** Starts emulate on a free port of the loopback interface. @param seed emulate's own seed configuration. */
export async function startUpstream(seed: JsonObject, translation: Translation): Promise<Upstream> {
  const emulator = await createEmulator({ service: 'github', port: 0, hostname: '127.0.0.1', seed });
  const innerHost = new URL(emulator.url).host;
  const base = `http://127.0.0.1:${new URL(emulator.url).port}`;
  let uses = 0;
  const ownToken = () => `standin-${Math.floor(uses++ / tokenUses)}`;

  const outward = (text: string) => {
    let out = text.replaceAll(innerHost, translation.publicHost());
    for (const [inner, outer] of translation.pairs()) out = out.replaceAll(inner, outer);
    return out;
  };
  const inward = (path: string) => {
    let out = path.replaceAll('[bot]', '%5Bbot%5D');
    for (const [inner, outer] of translation.pairs())
      out = out.replaceAll(`${outer}%5Bbot%5D`, `${inner}%5Bbot%5D`);
    return out;
  };

  async function send(request: UpstreamRequest): Promise<Answer> {
    const headers = new Headers({ accept: request.accept ?? 'application/json' });
    if (request.authorization) headers.set('authorization', request.authorization);
    const writes = request.method !== 'GET' && request.method !== 'HEAD';
    const body = request.body?.length ? new Uint8Array(request.body) : '{}';
    if (writes) headers.set('content-type', 'application/json');
    const response = await fetch(base + inward(request.path), {
      method: request.method,
      headers,
      redirect: 'manual',
      ...(writes ? { body } : {}),
    });
    return answerOf(response, outward(await response.text()), outward);
  }

  async function own(method: string, path: string, body?: JsonObject): Promise<unknown> {
    const payload = body && Buffer.from(JSON.stringify(body));
    const answer = await send({ method, path, authorization: `token ${ownToken()}`, body: payload });
    if (answer.status >= 400) throw new Refusal(answer.status, String(at(answer.body, 'message') ?? path));
    return answer.body;
  }

  async function find(path: string): Promise<unknown> {
    const answer = await send({ method: 'GET', path, authorization: `token ${ownToken()}` });
    return answer.status === 200 ? answer.body : undefined;
  }

  return { send, own, find, close: () => emulator.close() };
}

const keptHeaders = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-ratelimit-resource',
];

function answerOf(response: Response, text: string, outward: (text: string) => string): Answer {
  const headers: Record<string, string> = {};
  for (const name of keptHeaders) {
    const value = response.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  const link = response.headers.get('link');
  if (link !== null) headers.link = outward(link);
  if (!text) return { status: response.status, headers };
  if (!(response.headers.get('content-type') ?? '').includes('json')) {
    return { status: response.status, headers, text };
  }
  const body: unknown = JSON.parse(text);
  if (response.status >= 400 && isObject(body)) body.status = String(response.status);
  return { status: response.status, headers, body };
}
