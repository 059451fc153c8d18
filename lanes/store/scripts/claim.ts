/** Claim: a queued task whose time has come gets a run, a lease and a higher fence, in one step, for one worker. */
import { makeBatchScript } from '../batch.ts';
import { rankOf } from '../scores.ts';
import { luaHead, luaQueued } from './head.ts';

/**
 * All that identifies the lease is one text - id, fence, run, epoch, worker - made here and by `leaseText`. Which lease
 * recorded last is forgotten: from here on it is as lost as any other one.
 *
 * Order: task, worker, lease (its id), ttlMs.
 * Answers { 'claimed', now, doc, head, epoch, lease's end } or { state | 'missing' | 'paused', now, notBeforeMs }. An
 * unnamed worker gets nothing, and nobody anything while the namespace is paused.
 */
export const claimScript = makeBatchScript(
  ['states', 'ledger', 'paused'],
  ['task', 'worker', 'lease', 'ttlMs'],
  `
${luaHead}${luaQueued}
local is = redis.call('HMGET', key, 'doc', 'head', 'epoch')
if not is[1] then return { 'missing', now, 0 } end
if paused then return { 'paused', now, 0 } end
local revision, fence, run, runsUsed, wakes, notBeforeMs = matchQueued(is[2])
if not revision then return { stateOf(is[2]), now, 0 } end
if tonumber(notBeforeMs) > now or worker == '' then return { 'queued', now, notBeforeMs } end
local ends = string.format('%d', now + ttlMs)
local lease = string.format('%s %d %d %s %s', lease, fence + 1, run + 1, is[3], worker)
local head = string.format('%s\\nrunning\\n%d\\n%d\\n%d\\n%d\\n%s\\n%s\\n%d\\n%s\\n', lease, revision + 1, fence + 1, run + 1,
  runsUsed + 1, wakes, notBeforeMs, now, worker)
redis.call('HSET', key, 'head', head, 'leaseEndsAtMs', ends)
place(task, string.format('%d', ${rankOf('running')} + ends))
record(string.format('claimed\\n%s\\n%d\\n%d\\n%s\\n', task, run + 1, fence + 1, worker))
return { 'claimed', now, is[1], head, is[3], ends }
`,
  `local paused = redis.call('EXISTS', keys.paused) == 1`,
);
