/**
 * Scripts: sent whole once a connection, then by their hash. Lua does not roll back, so every script checks everything
 * before its first write, names every key in KEYS and takes the time from Redis.
 */
import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

export interface Script {
  readonly lua: string;
  readonly sha: string;
}

export function makeScript(lua: string): Script {
  return { lua, sha: createHash('sha1').update(lua).digest('hex') };
}

/** What Redis has been sent whole, by connection: after a reconnect it may be another Redis. */
const sent = new WeakMap<object, Set<string>>();

/**
 * Runs a script. It is sent whole for the first time on a connection, so that it keeps its place among the commands
 * that are sent behind it. The answer's shape is the script's own.
 */
export async function runScript(
  redis: Redis,
  script: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  const known = sent.get(redis.stream) ?? new Set();
  if (known.has(script.sha)) {
    try {
      return await redis.evalsha(script.sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    }
  }
  sent.set(redis.stream, known.add(script.sha));
  return await redis.eval(script.lua, keys.length, ...keys, ...args);
}
