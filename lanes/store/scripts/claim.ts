/** Claim: a queued task whose time has come gets a run, a lease and a higher fence, in one step, for one worker. */
import { makeBatchScript } from '../batch.ts';
import { luaWriteHead } from './head.ts';

/**
 * All that identifies the lease is one text - id, fence, run, epoch, worker - made here and by `leaseText`.
 *
 * Shared keys: index, ledger. Order: task, worker, lease (its id), ttlMs, rank (of running).
 * Answers { 'claimed', now, doc, head, epoch, lease's end } or { state | 'missing', now, notBeforeMs }. An unnamed
 * worker gets nothing.
 */
export const claimScript = makeBatchScript(
  2,
  ['task', 'worker', 'lease', 'ttlMs', 'rank'],
  `
${luaWriteHead}
local is = redis.call('HMGET', task, 'doc', 'head', 'epoch')
if not is[1] then return { 'missing', now, 0 } end
local head = cjson.decode(is[2])
if head.state ~= 'queued' or head.notBeforeMs > now or order.worker == '' then
  return { head.state, now, head.notBeforeMs }
end
local ends = now + order.ttlMs
head.state, head.claimedBy, head.changedAtMs = 'running', order.worker, now
head.revision, head.fence, head.run = head.revision + 1, head.fence + 1, head.run + 1
head.runsUsed = head.runsUsed + 1
head.lease = string.format('%s %d %d %s %s', order.lease, head.fence, head.run, is[3], order.worker)
local written = write(head)
redis.call('HSET', task, 'head', written, 'leaseEndsAtMs', string.format('%d', ends))
redis.call('ZADD', KEYS[1], string.format('%d', order.rank + ends), order.task)
record(KEYS[2], 'claimed', head.run, head.fence, order.worker, '')
return { 'claimed', now, is[1], written, is[3], ends }
`,
);
