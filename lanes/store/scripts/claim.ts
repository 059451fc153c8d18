/** Claim: a queued task whose time has come gets a run, a lease and a higher fence, in one step, for one worker. */
import { makeScript } from '../script.ts';
import { luaLedger, luaNow } from './shared.ts';

/**
 * All that identifies the lease is one text - id, fence, run, epoch, worker - made here and by `leaseText`.
 *
 * KEYS: task, index, ledger.
 * ARGV: task id, worker, lease id, lease ttl in ms, rank of running.
 * Answers { 'claimed', now, doc, head, epoch, lease's end } or { state | 'missing', now, notBeforeMs }. An unnamed
 * worker gets nothing.
 */
export const claimScript = makeScript(`
${luaNow}
local is = redis.call('HMGET', KEYS[1], 'doc', 'head', 'epoch')
if not is[1] then return { 'missing', now, 0 } end
local head = cjson.decode(is[2])
if head.state ~= 'queued' or head.notBeforeMs > now or ARGV[2] == '' then
  return { head.state, now, head.notBeforeMs }
end
${luaLedger}
local ends = now + ARGV[4]
head.state, head.claimedBy, head.changedAtMs = 'running', ARGV[2], now
head.revision, head.fence, head.run = head.revision + 1, head.fence + 1, head.run + 1
head.runsUsed = head.runsUsed + 1
head.lease = ARGV[3] .. ' ' .. head.fence .. ' ' .. head.run .. ' ' .. is[3] .. ' ' .. ARGV[2]
local text = cjson.encode(head)
redis.call('HSET', KEYS[1], 'head', text, 'leaseEndsAtMs', ends)
redis.call('ZADD', KEYS[2], ARGV[5] + ends, ARGV[1])
record(KEYS[3], 'claimed', ARGV[1], head.run, head.fence, ARGV[2], '')
return { 'claimed', now, is[1], text, is[3], ends }
`);
