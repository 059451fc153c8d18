/**
 * Redis's answers, bounded in time and with its refusals named. ioredis alone would wait for ever, and would deliver a
 * command long after its caller was told that it failed.
 */
import type { Redis } from 'ioredis';
import { LaneError } from '../errors.ts';

/** How long a verb waits for Redis before it is `store_unavailable`. */
export const answerWithinMs = 5_000;

const refusals = /NOPERM|NOAUTH|WRONGPASS|user executing the script can't (?:access|run)|no permissions/i;

/** Names an error of Redis or of the connection. An ACL's refusal inside Lua does not say NOPERM: both are mapped. */
export function toLaneError(error: unknown): LaneError {
  if (error instanceof LaneError) return error;
  const text = error instanceof Error ? error.message : String(error);
  const code = refusals.test(text) ? 'store_refused' : 'store_unavailable';
  return new LaneError(code, text.slice(0, 200), { cause: error });
}

const waiting = new WeakMap<Redis, Promise<void>>();

/** Resolves when the connection is ready. One listener serves all who wait for it. */
function whenReady(redis: Redis): Promise<void> {
  const known = waiting.get(redis);
  if (known !== undefined) return known;
  const promise = new Promise<void>((resolve, reject) => {
    let last: Error | undefined;
    const failed = (error: Error): void => {
      last = error;
      // Wrong credentials do not mend by waiting.
      if (refusals.test(error.message)) finish(() => reject(error));
    };
    const ready = (): void => finish(resolve);
    const ended = (): void => finish(() => reject(last ?? new Error('the connection is closed')));
    const finish = (settle: () => void): void => {
      redis.off('ready', ready).off('end', ended).off('error', failed);
      waiting.delete(redis);
      settle();
    };
    redis.on('ready', ready).on('end', ended).on('error', failed);
  });
  promise.catch(() => {});
  waiting.set(redis, promise);
  return promise;
}

/**
 * Asks Redis, for at most `withinMs`. What has not been sent by then is not sent any more: the caller has been told.
 * @throws LaneError `store_unavailable` when it does not answer, `store_refused` when its ACL says no.
 */
export function ask<T>(redis: Redis, call: () => Promise<T>, withinMs: number = answerWithinMs): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      timedOut.over = true;
      reject(new LaneError('store_unavailable', `no answer in ${withinMs} ms`));
    }, withinMs);
    const timedOut = { over: false };
    (redis.status === 'ready' ? call() : callWhenReady(redis, call, timedOut)).then(
      (answer) => {
        clearTimeout(timer);
        resolve(answer);
      },
      (error) => {
        clearTimeout(timer);
        reject(toLaneError(error));
      },
    );
  });
}

async function callWhenReady<T>(
  redis: Redis,
  call: () => Promise<T>,
  timedOut: { over: boolean },
): Promise<T> {
  if (redis.status === 'end') throw new Error('the connection is closed');
  await whenReady(redis);
  if (timedOut.over) throw new LaneError('store_unavailable');
  return await call();
}
