/**
 * What a failed request means. The kinds differ in what may be done next: wait, look again before another try, or
 * give up. Limits are told as GitHub documents them: `retry-after`, else the reset time when nothing remains, else
 * 60 s and doubling. https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
 */
import { LaneError } from '../../lanes/index.ts';

export type Failure =
  /** A rate limit. `untilMs` is null where GitHub named no time. */
  | { readonly kind: 'limited'; readonly untilMs: number | null; readonly message: string }
  /** 404 or 410: not there, or not visible to us. */
  | { readonly kind: 'gone'; readonly message: string }
  /** 403 that is no limit: locked, archived, suspended, or a permission that the App lacks. */
  | { readonly kind: 'forbidden'; readonly message: string }
  /** 422 and other 4xx: the same request will not succeed. */
  | { readonly kind: 'invalid'; readonly message: string }
  /** No answer, or 5xx: it may have happened. */
  | { readonly kind: 'doubt'; readonly message: string };

interface Seen {
  readonly status: number;
  readonly message: string;
  readonly header: (name: string) => string | undefined;
}

function seen(error: unknown): Seen {
  const bag: { status?: unknown; message?: unknown; response?: { headers?: Record<string, unknown> } } =
    typeof error === 'object' && error !== null ? error : {};
  const headers = bag.response?.headers ?? {};
  return {
    status: typeof bag.status === 'number' && bag.response !== undefined ? bag.status : 0,
    message: typeof bag.message === 'string' ? bag.message.slice(0, 500) : 'unknown failure',
    header: (name) => (headers[name] === undefined ? undefined : String(headers[name])),
  };
}

function limitEnd(from: Seen, nowMs: number): number | null {
  const seconds = Number(from.header('retry-after'));
  if (from.header('retry-after') !== undefined && Number.isFinite(seconds)) return nowMs + seconds * 1_000;
  const reset = Number(from.header('x-ratelimit-reset'));
  if (from.header('x-ratelimit-remaining') === '0' && Number.isFinite(reset) && reset > 0) {
    return Math.max(nowMs + 1_000, reset * 1_000);
  }
  return null;
}

function isLimit(from: Seen): boolean {
  if (from.status === 429) return true;
  if (from.header('retry-after') !== undefined || from.header('x-ratelimit-remaining') === '0') return true;
  return /rate limit|abuse detection/i.test(from.message);
}

/** Tells what a failed request means. `nowMs` is our clock, to which `retry-after` is added. */
export function failureOf(error: unknown, nowMs: number): Failure {
  const from = seen(error);
  const { status, message } = from;
  if (status === 403 || status === 429) {
    return isLimit(from)
      ? { kind: 'limited', untilMs: limitEnd(from, nowMs), message }
      : { kind: 'forbidden', message };
  }
  if (status === 404 || status === 410) return { kind: 'gone', message };
  if (status >= 400 && status < 500 && status !== 401 && status !== 408) return { kind: 'invalid', message };
  return { kind: 'doubt', message };
}

/** The status of an answer that Octokit threw, or 0 where there was none. */
export function statusOf(error: unknown): number {
  return seen(error).status;
}

/** The typed error for an answer that cannot be used. */
export function unusable(what: string, cause: unknown): LaneError {
  return new LaneError('github_failed', `unexpected answer for ${what}`, { cause });
}
