/**
 * The one drainer of a fleet namespace, where several processes could be it: one holder at a time, by Redis's clock. A
 * holder that died without leaving is followed when its time has run out.
 */
import type { Redis } from 'ioredis';
import type { Namespace } from '../namespaces.ts';
import { ask } from './answers.ts';
import { drainerKey } from './keys.ts';
import { makeScript, runScript } from './script.ts';

/** KEYS: drainer. ARGV: holder, ms. Answers 1 if it is the holder's now, 0 if another one has it. */
const takeScript = makeScript(`
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`);

/** KEYS: drainer. ARGV: holder. */
const leaveScript = makeScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
`);

export interface Drainer {
  /** Takes the place, or keeps it, for `ttlMs`; answers whether it is the holder's. */
  take(holder: string, ttlMs: number): Promise<boolean>;
  /** Frees the place if it is the holder's. */
  leave(holder: string): Promise<void>;
}

export function makeDrainer(redis: Redis, ns: Namespace): Drainer {
  const keys = [drainerKey(ns)];
  return {
    take: async (holder, ttlMs) =>
      (await ask(redis, () => runScript(redis, takeScript, keys, [holder, ttlMs]))) === 1,
    async leave(holder) {
      await ask(redis, () => runScript(redis, leaveScript, keys, [holder]));
    },
  };
}
