/** What a lease's holder does while it runs: begin, and renew. Neither moves the task. */
import { makeScript } from '../script.ts';
import { luaHolds, luaLedger, luaNow } from './shared.ts';

/**
 * KEYS: task, ledger. ARGV: lease id, fence, worker, run, epoch, task id, detail.
 * Answers { 1 if held else 0, now }.
 */
export const beginScript = makeScript(`
${luaNow}
${luaHolds}
if not holds(KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]) then return { 0, now } end
${luaLedger}
record(KEYS[2], 'began', ARGV[6], ARGV[4], ARGV[2], ARGV[3], ARGV[7])
return { 1, now }
`);

/**
 * The revision stays: no decision rests on when a lease ends.
 * KEYS: task, running index. ARGV: lease id, fence, worker, run, epoch, task id, ttl in ms.
 * Answers { the lease's new end, or 0, now }.
 */
export const renewScript = makeScript(`
${luaNow}
${luaHolds}
if not holds(KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]) then return { 0, now } end
local ends = now + ARGV[7]
redis.call('HSET', KEYS[1], 'leaseEndsAtMs', ends)
redis.call('ZADD', KEYS[2], ends, ARGV[6])
return { ends, now }
`);
