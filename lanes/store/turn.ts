/** Whose turn it is in a namespace: which queued tasks may start now, and whether any may. */
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { Namespace } from '../namespaces.ts';
import { ask } from './answers.ts';
import { pausedKey, statesKey } from './keys.ts';
import { rankOf } from './scores.ts';
import { makeScript, runScript } from './script.ts';

/**
 * KEYS: index, paused. ARGV: rank of queued, how many ids. Answers { how many may start now, the ids of the first ones }.
 */
const dueScript = makeScript(`
if redis.call('EXISTS', KEYS[2]) == 1 then return { 0, {} } end
local clock = redis.call('TIME')
local first = tonumber(ARGV[1])
local now = string.format('%d', first + clock[1] * 1000 + math.floor(clock[2] / 1000))
return { redis.call('ZCOUNT', KEYS[1], ARGV[1], now),
  redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[1], now, 'LIMIT', 0, ARGV[2]) }
`);

const dueSchema = z.tuple([z.int(), z.array(z.string())]);

export interface Turn {
  /** How many queued tasks may start now, by Redis's clock, and the `most` that are due first. None while paused. */
  due(most: number): Promise<{ readonly count: number; readonly first: readonly string[] }>;
  /**
   * Hands out a task that may start now, of those that the last look found the one due first, to each of those who ask
   * here one that nobody else has in hand. Undefined where there is none.
   */
  hand(): Promise<string | undefined>;
  /** It has been tried. Where it was not to be had, the last look is out of date. */
  back(task: string, claimed: boolean): void;
  isPaused(): Promise<boolean>;
  /** Keeps every claim from succeeding until `resume`. */
  pause(by: string): Promise<void>;
  resume(): Promise<void>;
}

export function makeTurn(redis: Redis, ns: Namespace): Turn {
  const paused = pausedKey(ns);
  const keys = [statesKey(ns), paused];
  const due: Turn['due'] = async (most) => {
    const answer = await ask(redis, () => runScript(redis, dueScript, keys, [rankOf('queued'), most]));
    const [count, first] = dueSchema.parse(answer);
    return { count, first };
  };
  return {
    due,
    ...makeHands(due),
    isPaused: async () => (await ask(redis, () => redis.exists(paused))) === 1,
    async pause(by) {
      await ask(redis, () => redis.set(paused, by));
    },
    async resume() {
      await ask(redis, () => redis.del(paused));
    },
  };
}

interface Waiting {
  resolve(task: string | undefined): void;
  reject(error: unknown): void;
}

/** How many more than are asked for a look finds: most tasks are then handed out without a look of their own. */
const ahead = 32;

/**
 * Those who ask in one turn of the event loop share one look, and what one of them tries the others do not. What a look
 * found beyond that is handed out as long as others are at it; a claim says whether it still holds.
 */
function makeHands(due: Turn['due']): Pick<Turn, 'hand' | 'back'> {
  const trying = new Set<string>();
  let found: string[] = [];
  let waiting: Waiting[] = [];
  /** Those whose look is on its way: what they get is not theirs who ask after them. */
  let asking = 0;

  function take(): string | undefined {
    const task = found.shift();
    if (task !== undefined) trying.add(task);
    return task;
  }

  async function look(): Promise<void> {
    const askers = waiting;
    waiting = [];
    asking += askers.length;
    try {
      const { first } = await due(asking + trying.size + ahead);
      found = first.filter((task) => !trying.has(task));
      for (const asker of askers) asker.resolve(take());
    } catch (error) {
      for (const asker of askers) asker.reject(error);
    } finally {
      asking -= askers.length;
    }
  }

  return {
    hand: () =>
      new Promise((resolve, reject) => {
        const task = take();
        if (task !== undefined) return resolve(task);
        waiting.push({ resolve, reject });
        if (waiting.length === 1) process.nextTick(look);
      }),
    back(task, claimed) {
      trying.delete(task);
      if (!claimed || trying.size === 0) found = [];
    },
  };
}
