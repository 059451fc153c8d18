/** Claim: a queued task whose time has come gets a run, a lease and a higher fence, in one step, for one worker. */
import { makeScript } from '../script.ts';
import { luaLedger, luaNow, luaTask } from './shared.ts';

/**
 * KEYS: task, queued index, running index, ledger.
 * ARGV: task id, worker, lease id, lease ttl in ms.
 * Answers { 'claimed', now, fields } or { state | 'missing', now, notBeforeMs }. An unnamed worker gets nothing.
 */
export const claimScript = makeScript(`
${luaNow}
local is = redis.call('HMGET', KEYS[1], 'state', 'notBeforeMs', 'fence', 'run', 'runsUsed', 'revision')
if not is[1] then return { 'missing', now, 0 } end
local notBefore = tonumber(is[2])
if is[1] ~= 'queued' or notBefore > now or ARGV[2] == '' then return { is[1], now, notBefore } end
${luaLedger}
${luaTask}
local ends = now + ARGV[4]
local fence, run = is[3] + 1, is[4] + 1
redis.call('HSET', KEYS[1], 'state', 'running', 'revision', is[6] + 1, 'fence', fence, 'run', run,
  'runsUsed', is[5] + 1, 'claimedBy', ARGV[2], 'leaseId', ARGV[3], 'leaseWorker', ARGV[2],
  'leaseEndsAtMs', ends, 'changedAtMs', now)
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZADD', KEYS[3], ends, ARGV[1])
record(KEYS[4], 'claimed', ARGV[1], run, fence, ARGV[2], '')
return { 'claimed', now, task(KEYS[1]) }
`);
