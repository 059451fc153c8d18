/**
 * One HTTP call to the App's fleet API. Whatever goes wrong becomes a LaneError: the App's own code where it gave one,
 * `app_unreachable` where nobody answered. The token goes into a header and nowhere else.
 */
import { fleetErrorSchema, isLaneErrorCode, LaneError, toldError } from '../../lanes/index.ts';

export interface FleetAddress {
  /** The App's base address, without a slash at the end. */
  readonly appUrl: string;
  readonly token: string;
}

export interface FleetCall {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT';
  /** Below `/fleet/v1`. */
  readonly path: string;
  readonly json?: unknown;
  readonly bytes?: Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface FleetReply {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON; null where there is none. */
  readonly body: unknown;
}

/**
 * Calls once.
 * @throws LaneError what the App answered; `app_unreachable`; `invalid_config` where something else than the App
 * answers. The signal's reason where it aborts.
 */
export async function callFleet({ appUrl, token }: FleetAddress, call: FleetCall): Promise<FleetReply> {
  const timeout = AbortSignal.timeout(call.timeoutMs);
  const headers = new Headers(call.headers);
  headers.set('authorization', `Bearer ${token}`);
  if (call.json !== undefined) headers.set('content-type', 'application/json');
  else if (call.bytes !== undefined) headers.set('content-type', 'application/octet-stream');
  const body = call.json === undefined ? call.bytes : JSON.stringify(call.json);
  let reply: FleetReply;
  try {
    const response = await fetch(`${appUrl}/fleet/v1${call.path}`, {
      method: call.method,
      headers,
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
      signal: call.signal === undefined ? timeout : AbortSignal.any([call.signal, timeout]),
    });
    const text = await response.text();
    reply = { status: response.status, headers: response.headers, body: parseJson(text) };
  } catch (error) {
    call.signal?.throwIfAborted();
    const why = timeout.aborted ? `no answer within ${call.timeoutMs / 1000} s` : reasonOf(error);
    throw new LaneError('app_unreachable', why);
  }
  if (reply.status >= 200 && reply.status < 300) return reply;
  throw refusalOf(reply, appUrl);
}

/** `fetch failed` says nothing; its cause does. Its words are the system's and hold no header. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return 'the connection failed';
}

function parseJson(text: string): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function refusalOf({ status, headers, body }: FleetReply, appUrl: string): LaneError {
  const told = fleetErrorSchema.safeParse(body);
  if (told.success) {
    const { code, message, retryable } = told.data.error;
    if (isLaneErrorCode(code)) return toldError(code, message);
    if (retryable) return new LaneError('app_unreachable', `${code}: ${message}`);
  }
  // A HEAD is answered without a body; the status tells what its holder must do.
  const known = headCodes[status];
  if (known !== undefined && body === null && isFleet(headers)) return new LaneError(known);
  if (status >= 500 || status === 429) return new LaneError('app_unreachable', `HTTP ${status}`);
  return new LaneError(
    'invalid_config',
    `LANES_APP_URL: ${appUrl} answers ${status}, and not as the App does`,
  );
}

const headCodes: Readonly<Record<number, 'identity_required' | 'namespace_not_granted' | 'lease_lost'>> = {
  401: 'identity_required',
  403: 'namespace_not_granted',
  409: 'lease_lost',
};

function isFleet(headers: Headers): boolean {
  return (headers.get('content-type') ?? 'application/json').startsWith('application/json');
}
