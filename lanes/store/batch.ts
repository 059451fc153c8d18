/**
 * Batches: the calls of one turn that run the same script on tasks of one namespace travel as one command. Each is
 * checked and written on its own, in order, as if it had come alone; what is shared is the way there and back, which
 * costs a client more than the work.
 */
import type { Redis } from 'ioredis';
import { LaneError } from '../errors.ts';
import { ask } from './answers.ts';
import { makeScript, runScript, type Script } from './script.ts';

/**
 * Bounds how long Redis is busy with one command. What goes beyond it follows a turn later, in a write of its own: so
 * Redis works on one part while the answers to the other are worked on here. In one write both would wait for each other.
 */
const mostAtOnce = 25;

/** A script for batches, with the names of each call's small arguments. */
export interface BatchScript<Name extends string> extends Script {
  readonly names: readonly Name[];
}

/** The small arguments of one call by their names. Lua sees all of them as text. How many texts there are is counted here. */
export type Order<Name extends string> = Readonly<Record<Exclude<Name, 'texts'>, string | number>>;

/** The keys of a namespace that the calls of a script have in common. */
export type SharedKey = 'epoch' | 'states' | 'effects' | 'ledger' | 'paused';

/**
 * Makes a script from the Lua for one call. The Lua finds the shared keys it asked for as `keys.<name>`, its task's key
 * as `key`, `now` (Redis's clock in ms), its small arguments by their names, each a text, and, where the last of them is
 * `texts`, that many texts as `text(n)`. `place(task, score)` puts a task there in the index, `record(line)` adds a line to
 * the ledger; both are written once for the whole batch. It returns one call's answer. `first` is Lua for what all calls
 * share: run once, with `keys` and `now` there.
 *
 * The arguments come one by one and are given their names here: decoding them from JSON cost Redis more.
 */
export function makeBatchScript<const Name extends string>(
  shared: readonly SharedKey[],
  names: readonly Name[],
  lua: string,
  first = '',
): BatchScript<Name> {
  const keys = shared.map((name, i) => `${name} = KEYS[${i + 1}]`).join(', ');
  const named = names.map((_name, i) => `ARGV[from + ${i + 1}]`).join(', ');
  const script = makeScript(`
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local keys = { ${keys} }
local KEYS, ARGV, done = KEYS, ARGV, 0
local places, lines = {}, {}
local function text(n) return ARGV[done + n] end
local function place(task, score)
  places[#places + 1] = score
  places[#places + 1] = task
end
local function record(line)
  lines[#lines + 1] = #lines
  lines[#lines + 1] = line
end
${first}
local function one(key, ${names.join(', ')})
${lua}
end
local answers = {}
for i = ${shared.length} + 1, #KEYS do
  local from = done
  done = done + ${names.length}
  answers[i - ${shared.length}] = one(KEYS[i], ${named})
${names.some((name) => name === 'texts') ? `  done = done + ARGV[done]\n` : ''}end
if #places > 0 then redis.call('ZADD', keys.states, unpack(places)) end
if #lines > 0 then redis.call('XADD', keys.ledger, '*', unpack(lines)) end
return { now, answers }
`);
  return { ...script, names };
}

interface Call {
  readonly task: string;
  readonly args: readonly (string | number)[];
  readonly onSent: (() => void) | undefined;
  resolve(answer: unknown[]): void;
  reject(error: unknown): void;
}

export type Batch = <Name extends string>(
  script: BatchScript<Name>,
  shared: readonly string[],
  task: string,
  order: Order<Name>,
  texts?: readonly string[],
  onSent?: () => void,
) => Promise<unknown[]>;

/** Calls scripts on one connection; one script's shared keys are always the same. `observe` hears Redis's time with every answer. */
export function makeBatch(redis: Redis, observe: (nowMs: number) => void): Batch {
  const waiting = new Map<Script, Call[]>();

  async function send(script: Script, shared: readonly string[], calls: readonly Call[]): Promise<void> {
    try {
      const keys = [...shared, ...calls.map((call) => call.task)];
      const args = calls.flatMap((call) => call.args);
      const onSent = redis.status === 'ready' ? calls.map((call) => call.onSent) : [];
      const answering = ask(redis, () => runScript(redis, script, keys, args));
      for (const tell of onSent) tell?.();
      const answer = await answering;
      const [now, answers] = Array.isArray(answer) ? answer : [];
      if (!Array.isArray(answers)) throw new LaneError('store_unavailable', 'a script gave no answer');
      observe(Number(now));
      calls.forEach((call, i) => {
        call.resolve(answers[i]);
      });
    } catch (error) {
      for (const call of calls) call.reject(error);
    }
  }

  function flush(script: Script, shared: readonly string[]): void {
    const calls = waiting.get(script) ?? [];
    const first = calls.splice(0, mostAtOnce);
    if (calls.length > 0) setImmediate(flush, script, shared);
    else waiting.delete(script);
    void send(script, shared, first);
  }

  return (script, shared, task, order, texts = [], onSent) =>
    new Promise((resolve, reject) => {
      const all = { ...order, texts: texts.length } as Readonly<
        Record<(typeof script.names)[number], string | number>
      >;
      const call = {
        task,
        args: [...script.names.map((name) => all[name]), ...texts],
        onSent,
        resolve,
        reject,
      };
      const calls = waiting.get(script);
      if (calls !== undefined) {
        calls.push(call);
        return;
      }
      waiting.set(script, [call]);
      process.nextTick(flush, script, shared);
    });
}
