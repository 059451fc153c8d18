/**
 * The words every room of the stand-in speaks: a call that came in, who made it, and the answer that goes out.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { AppRecord, TokenRecord } from './apps.ts';
import type { Person } from './people.ts';

export type JsonObject = { [key: string]: unknown };

/** Who calls, read from the credential alone. */
export type Caller =
  | { kind: 'anonymous' }
  | { kind: 'person'; person: Person }
  | { kind: 'app'; app: AppRecord }
  | { kind: 'installation'; token: TokenRecord };

/** One REST request: the path has no query, no `/api/v3`, and is still percent-encoded. */
export interface Call {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: Buffer;
  caller: Caller;
}

/** What goes back. `body` is sent as JSON, `text` and `bytes` as they are. */
export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
  text?: string;
  bytes?: Buffer;
}

export type Handler = (call: Call, params: Record<string, string>) => Answer | Promise<Answer>;

export interface Route {
  method: string;
  pattern: string;
  handle: Handler;
}

/** An answer that ends the handling of a call: thrown by any room, sent by the server. */
export class Refusal extends Error {
  readonly answer: Answer;
  constructor(status: number, message: string, extra: JsonObject = {}, headers: Record<string, string> = {}) {
    super(message);
    this.answer = {
      status,
      headers,
      body: { message, ...extra, documentation_url: docs, status: String(status) },
    };
  }
}

const docs = 'https://docs.github.com/rest';

/** GitHub's 422 with its list of errors. */
export function invalid(resource: string, field: string, message: string): Refusal {
  return new Refusal(422, 'Validation Failed', { errors: [{ resource, field, code: 'custom', message }] });
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The call's JSON body as an object; an empty body is an empty object. Throws GitHub's 400 on anything else. */
export function jsonOf(call: Call): JsonObject {
  const value = anyJsonOf(call);
  if (!isObject(value)) throw new Refusal(400, 'Body should be a JSON object');
  return value;
}

/** The call's JSON body, of any shape; an empty body is an empty object. */
export function anyJsonOf(call: Call): unknown {
  if (call.body.length === 0) return {};
  try {
    return JSON.parse(call.body.toString('utf8'));
  } catch {
    throw new Refusal(400, 'Problems parsing JSON');
  }
}

/** A copy of the call that carries another JSON body. */
export function withJson(call: Call, value: unknown): Call {
  return { ...call, body: Buffer.from(JSON.stringify(value)) };
}

/** Reads along keys into foreign JSON; undefined where the way ends. */
export function at(value: unknown, ...keys: string[]): unknown {
  let here = value;
  for (const key of keys) here = isObject(here) ? here[key] : undefined;
  return here;
}

export function textAt(value: unknown, ...keys: string[]): string {
  const found = at(value, ...keys);
  return typeof found === 'string' ? found : '';
}

export function numberAt(value: unknown, ...keys: string[]): number {
  const found = at(value, ...keys);
  return typeof found === 'number' ? found : 0;
}

export function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A parameter that the route's pattern guarantees. */
export function param(params: Record<string, string>, name: string): string {
  const value = params[name];
  if (value === undefined) throw new Refusal(404, 'Not Found');
  return value;
}
