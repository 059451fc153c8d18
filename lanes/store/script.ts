/**
 * Scripts: sent by their hash, and whole where Redis does not know them (after a restart). Lua does not roll back, so
 * every script checks everything before its first write, names every key in KEYS and takes the time from Redis.
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

/** Runs a script. The answer's shape is the script's own. */
export async function runScript(
  redis: Redis,
  script: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await redis.evalsha(script.sha, keys.length, ...keys, ...args);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return await redis.eval(script.lua, keys.length, ...keys, ...args);
  }
}
