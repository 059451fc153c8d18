/**
 * Batches: the calls of one turn that run the same script on tasks of one namespace travel as one command. Each is
 * checked and written on its own, in order, as if it had come alone; what is shared is the way there and back, which
 * costs a client more than the work.
 */
import type { Redis } from 'ioredis';
import { LaneError } from '../errors.ts';
import { ask } from './answers.ts';
import { makeScript, runScript, type Script } from './script.ts';

/** Bounds how long Redis is busy with one command. */
const mostAtOnce = 32;

/** A script for batches, with the names of each call's small arguments. */
export interface BatchScript<Name extends string> extends Script {
  readonly names: readonly Name[];
}

/** The small arguments of one call by their names. Lua sees all of them as text. */
export type Order<Name extends string> = Readonly<Record<Name, string | number>>;

/**
 * Makes a script from the Lua for one call. The first `shared` keys are the same for all calls and are KEYS; each call
 * has one more, `task`. The Lua finds `now` (Redis's clock in ms), `order` (its small arguments, each a text), `text(n)`
 * and the number of `texts`, and `record(key, event, run, fence, by, detail)`, which writes a line of the ledger on the
 * order's task; the line's id tells the time. It returns one call's answer.
 *
 * The arguments come one by one and are given their names here: decoding them from JSON cost Redis more.
 */
export function makeBatchScript<const Name extends string>(
  shared: number,
  names: readonly Name[],
  lua: string,
): BatchScript<Name> {
  const named = names.map((name, i) => `${name} = ARGV[argsDone + ${i + 1}]`).join(', ');
  const script = makeScript(`
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local task, order, texts
local argsDone = 0
local function text(n) return ARGV[argsDone + n] end
local function record(ledger, event, run, fence, by, detail)
  local line = string.format('%s\\n%s\\n%d\\n%d\\n%s\\n%s', event, order.task, run, fence, by, detail)
  redis.call('XADD', ledger, '*', 'line', line)
end
local function one()
${lua}
end
local answers = {}
for i = ${shared} + 1, #KEYS do
  task = KEYS[i]
  order, texts = { ${named} }, tonumber(ARGV[argsDone + ${names.length + 1}])
  argsDone = argsDone + ${names.length + 1}
  answers[i - ${shared}] = one()
  argsDone = argsDone + texts
end
return { now, answers }
`);
  return { ...script, names };
}

interface Call {
  readonly task: string;
  readonly args: readonly (string | number)[];
  resolve(answer: unknown[]): void;
  reject(error: unknown): void;
}

export type Batch = <Name extends string>(
  script: BatchScript<Name>,
  shared: readonly string[],
  task: string,
  order: Order<Name>,
  texts?: readonly string[],
) => Promise<unknown[]>;

/** Calls scripts on one connection; one script's shared keys are always the same. `observe` hears Redis's time with every answer. */
export function makeBatch(redis: Redis, observe: (nowMs: number) => void): Batch {
  const waiting = new Map<Script, Call[]>();

  async function send(script: Script, shared: readonly string[], calls: readonly Call[]): Promise<void> {
    try {
      const keys = [...shared, ...calls.map((call) => call.task)];
      const args = calls.flatMap((call) => call.args);
      const answer = await ask(redis, () => runScript(redis, script, keys, args));
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
    waiting.delete(script);
    for (let at = 0; at < calls.length; at += mostAtOnce)
      void send(script, shared, calls.slice(at, at + mostAtOnce));
  }

  return (script, shared, task, order, texts = []) =>
    new Promise((resolve, reject) => {
      const call = {
        task,
        args: [...script.names.map((name) => order[name]), texts.length, ...texts],
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
