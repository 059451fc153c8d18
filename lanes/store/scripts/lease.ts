/**
 * What a lease's holder does while it runs: begin, and renew. Neither moves the task. All of the lease is compared -
 * id, fence, run, epoch, worker, in one text: after a wipe the numbers start anew and may fit by chance.
 */
import { makeScript } from '../script.ts';
import { luaLedger, luaNow, luaOrder } from './shared.ts';

/** Defines `holds(key, lease)`: whether the task runs under this lease, and it has not ended. */
const luaHolds = `
local function holds(key, lease)
  local is = redis.call('HMGET', key, 'head', 'leaseEndsAtMs')
  return is[1] and cjson.decode(is[1]).lease == lease and tonumber(is[2]) > now
end
`;

/**
 * KEYS: task, ledger. ARGV: { lease: its text, task, run, fence, worker, detail }.
 * Answers { 1 if held else 0, now }.
 */
export const beginScript = makeScript(`
${luaNow}
${luaOrder}
${luaHolds}
if not holds(KEYS[1], order.lease) then return { 0, now } end
${luaLedger}
record(KEYS[2], 'began', order.run, order.fence, order.worker, order.detail)
return { 1, now }
`);

/**
 * The revision stays: no decision rests on when a lease ends.
 * KEYS: task, index. ARGV: { lease: its text, task, ttlMs, rank: of running }.
 * Answers { the lease's new end, or 0, now }.
 */
export const renewScript = makeScript(`
${luaNow}
${luaOrder}
${luaHolds}
if not holds(KEYS[1], order.lease) then return { 0, now } end
local ends = now + order.ttlMs
redis.call('HSET', KEYS[1], 'leaseEndsAtMs', ends)
redis.call('ZADD', KEYS[2], order.rank + ends, order.task)
return { ends, now }
`);
