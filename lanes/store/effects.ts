/**
 * Effects under delivery: a task's, written by the script that moved it; loose ones, added once by key; and intents,
 * what the broker remembers of an effect that it is delivering.
 */
import type { Redis } from 'ioredis';
import type { Namespace } from '../namespaces.ts';
import {
  type LooseEffect,
  looseEffectSchema,
  type TaskEffect,
  taskEffectSchema,
} from '../records/effects.ts';
import { ask } from './answers.ts';
import { effectsKey, intentKey, onceKey } from './keys.ts';
import { makeScript, runScript } from './script.ts';
import { dropEntry, type ReadOptions, readStream } from './streams.ts';

/** An effect with its place in the stream. `effect` is null where the entry cannot be read: it must be dropped. */
export interface Delivered<E> {
  readonly id: string;
  readonly effect: E | null;
}

interface Schema<E> {
  safeParse(value: unknown): { success: true; data: E } | { success: false };
}

export interface EffectStream<E> {
  read(afterId: string, options: ReadOptions): Promise<Delivered<E>[]>;
  ack(id: string): Promise<void>;
}

function makeEffectStream<E>(
  redis: Redis,
  waiting: () => Redis,
  ns: Namespace,
  schema: Schema<E>,
): EffectStream<E> {
  const key = effectsKey(ns);
  return {
    async read(afterId, options) {
      const entries = await readStream(redis, waiting, key, afterId, options);
      return entries.map(({ id, fields }) => ({ id, effect: parsed(schema, fields.effect) }));
    },
    ack: (id) => dropEntry(redis, key, id),
  };
}

function parsed<E>(schema: Schema<E>, json: string | undefined): E | null {
  try {
    const result = schema.safeParse(JSON.parse(json ?? ''));
    return result.success ? result.data : null;
  } catch {
    return null;
  }
}

/** The effects of a namespace's tasks, in the order in which they were decided. */
export function makeTaskEffects(redis: Redis, waiting: () => Redis, ns: Namespace): EffectStream<TaskEffect> {
  return makeEffectStream(redis, waiting, ns, taskEffectSchema);
}

/** A loose effect's key is remembered this long. */
const onceForMs = 90 * 24 * 3_600_000;
/** An intent that nobody came back to is forgotten after this. */
const intentForMs = 30 * 24 * 3_600_000;

/** KEYS: once, effects. ARGV: ms to remember, effect. Answers 1 if added, 0 if its key was used before. */
const addOnceScript = makeScript(`
if not redis.call('SET', KEYS[1], '1', 'NX', 'PX', ARGV[1]) then return 0 end
redis.call('XADD', KEYS[2], '*', 'effect', ARGV[2])
return 1
`);

export interface LooseEffects extends EffectStream<LooseEffect> {
  /** Adds an effect unless its key was used in the last 90 days; answers whether it was added. */
  add(effect: LooseEffect): Promise<boolean>;
}

export function makeLooseEffects(redis: Redis, waiting: () => Redis, ns: Namespace): LooseEffects {
  return {
    ...makeEffectStream<LooseEffect>(redis, waiting, ns, looseEffectSchema),
    async add(effect) {
      const keys = [onceKey(ns, effect.key), effectsKey(ns)];
      const args = [onceForMs, JSON.stringify(effect)];
      return (await ask(redis, () => runScript(redis, addOnceScript, keys, args))) === 1;
    },
  };
}

export interface Intents {
  /** What was put under this key in the last 30 days, or null. */
  get(key: string): Promise<unknown>;
  /** Remembers a JSON value for 30 days. */
  put(key: string, value: unknown): Promise<void>;
}

export function makeIntents(redis: Redis, ns: Namespace): Intents {
  return {
    async get(key) {
      const json = await ask(redis, () => redis.get(intentKey(ns, key)));
      return json === null ? null : JSON.parse(json);
    },
    async put(key, value) {
      await ask(redis, () => redis.set(intentKey(ns, key), JSON.stringify(value), 'PX', intentForMs));
    },
  };
}
