/** Move: writes a transition that a rule has decided, if the record is still the one that the rule saw. */
import { makeScript } from '../script.ts';
import { luaHolds, luaLedger, luaNow } from './shared.ts';

/**
 * `mode` says what must hold of the lease: `held` by the one given; `ended`, for the keeper; `any`, for people.
 * A record by the lease that has already recorded is answered `already`: the first answer was lost on its way.
 *
 * KEYS: task, index of the old state, index of the new state, effects, ledger.
 * ARGV: 1 task id, 2 old state, 3 old revision, 4 epoch, 5 mode, 6-10 lease id, fence, worker, run, epoch,
 *   11 score in the new index, 12-16 event, run, fence, by, detail, 17 number of effects, the effects, then fields and
 *   values to set.
 * Answers { 'moved' | 'missing' | 'lease_lost' | 'already' | 'conflict', now }.
 */
export const moveScript = makeScript(`
${luaNow}
${luaHolds}
local is = redis.call('HMGET', KEYS[1], 'state', 'revision', 'epoch', 'recordedBy', 'leaseEndsAtMs')
if not is[1] then return { ARGV[5] == 'held' and 'lease_lost' or 'missing', now } end
if ARGV[5] == 'held' and not holds(KEYS[1], ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10]) then
  return { is[4] == ARGV[6] and 'already' or 'lease_lost', now }
end
if is[1] ~= ARGV[2] or is[2] ~= ARGV[3] or is[3] ~= ARGV[4] then return { 'conflict', now } end
if ARGV[5] == 'ended' and tonumber(is[5]) > now then return { 'conflict', now } end
${luaLedger}
local effects = tonumber(ARGV[17])
redis.call('HSET', KEYS[1], unpack(ARGV, 18 + effects))
if KEYS[2] ~= KEYS[3] then redis.call('ZREM', KEYS[2], ARGV[1]) end
redis.call('ZADD', KEYS[3], ARGV[11], ARGV[1])
for i = 18, 17 + effects do
  redis.call('XADD', KEYS[4], '*', 'effect', ARGV[i])
end
record(KEYS[5], ARGV[12], ARGV[1], ARGV[13], ARGV[14], ARGV[15], ARGV[16])
return { 'moved', now }
`);

/**
 * Another wake-up for a queued task whose own is gone; two keepers at once count it once.
 * KEYS: task. ARGV: revision. Answers { 1 if counted else 0, now }.
 */
export const rewakeScript = makeScript(`
${luaNow}
local is = redis.call('HMGET', KEYS[1], 'state', 'revision')
if is[1] ~= 'queued' or is[2] ~= ARGV[1] then return { 0, now } end
redis.call('HINCRBY', KEYS[1], 'wakes', 1)
redis.call('HINCRBY', KEYS[1], 'revision', 1)
return { 1, now }
`);

/** Forgets ended tasks. KEYS: index, then tasks. ARGV: their ids. Only what is in the index of an ended state goes. */
export const forgetScript = makeScript(`
for i = 1, #ARGV do
  if redis.call('ZREM', KEYS[1], ARGV[i]) == 1 then redis.call('DEL', KEYS[i + 1]) end
end
return 1
`);
