/**
 * What a lease's holder does while it runs: begin, and renew. Neither moves the task. All of the lease is compared -
 * id, fence, run, epoch, worker, in one text: after a wipe the numbers start anew and may fit by chance.
 */
import { makeBatchScript } from '../batch.ts';

/** Answers { 0 } unless the task runs under the order's lease, and that has not ended. */
const luaHeld = `
local is = redis.call('HMGET', task, 'head', 'leaseEndsAtMs')
if not is[1] or cjson.decode(is[1]).lease ~= order.lease or tonumber(is[2]) <= now then return { 0 } end
`;

/** Shared keys: ledger. Order: lease (its text), task, run, fence, worker, detail. Answers { 1 if held else 0 }. */
export const beginScript = makeBatchScript(
  1,
  ['lease', 'task', 'run', 'fence', 'worker', 'detail'],
  `
${luaHeld}
record(KEYS[1], 'began', order.run, order.fence, order.worker, order.detail)
return { 1 }
`,
);

/**
 * The revision stays: no decision rests on when a lease ends.
 * Shared keys: index. Order: lease (its text), task, ttlMs, rank (of running). Answers { the lease's new end, or 0 }.
 */
export const renewScript = makeBatchScript(
  1,
  ['lease', 'task', 'ttlMs', 'rank'],
  `
${luaHeld}
local ends = now + order.ttlMs
redis.call('HSET', task, 'leaseEndsAtMs', string.format('%d', ends))
redis.call('ZADD', KEYS[1], string.format('%d', order.rank + ends), order.task)
return { ends }
`,
);
