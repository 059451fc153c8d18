/** Move: writes a transition that a rule has decided, if the record is still the one that the rule saw. */
import { makeScript } from '../script.ts';
import { luaLedger, luaNow, luaOrder } from './shared.ts';

/**
 * The mode says what must hold of the lease: `held` by the one given; `ended`, for the keeper; `any`, for people. A
 * record by the lease that recorded last is answered `already`: the first answer was lost on its way. A task that stays
 * in its state stays where it is in the index, where a renewal may be moving it at the same time.
 *
 * KEYS: task, index, effects, ledger.
 * ARGV: { mode, lease: its text, from: { state, revision, epoch }, task, score: where the state changes, event, run,
 *   fence, by, detail }, doc, head; then the effects.
 * Answers { 'moved' | 'missing' | 'lease_lost' | 'already' | 'conflict', now }.
 */
export const moveScript = makeScript(`
${luaNow}
${luaOrder}
local held, from = order.mode == 'held', order.from
local is = redis.call('HMGET', KEYS[1], 'head', 'epoch', 'leaseEndsAtMs')
if not is[1] then return { held and 'lease_lost' or 'missing', now } end
local head = cjson.decode(is[1])
local ended = tonumber(is[3]) <= now
if held and head.recordedBy == order.lease then return { 'already', now } end
if held and (head.lease ~= order.lease or ended) then return { 'lease_lost', now } end
if head.state ~= from.state or head.revision ~= from.revision or is[2] ~= from.epoch then
  return { 'conflict', now }
end
if order.mode == 'ended' and not ended then return { 'conflict', now } end
${luaLedger}
redis.call('HSET', KEYS[1], 'doc', ARGV[2], 'head', ARGV[3])
if order.score then redis.call('ZADD', KEYS[2], order.score, order.task) end
for i = 4, #ARGV do
  redis.call('XADD', KEYS[3], '*', 'effect', ARGV[i])
end
record(KEYS[4], order.event, order.run, order.fence, order.by, order.detail)
return { 'moved', now }
`);

/**
 * Another wake-up for a queued task whose own is gone; two keepers at once count it once.
 * KEYS: task. ARGV: { revision }. Answers { 1 if counted else 0, now }.
 */
export const rewakeScript = makeScript(`
${luaNow}
${luaOrder}
local text = redis.call('HGET', KEYS[1], 'head')
local head = text and cjson.decode(text)
if not head or head.state ~= 'queued' or head.revision ~= order.revision then return { 0, now } end
head.wakes, head.revision = head.wakes + 1, head.revision + 1
redis.call('HSET', KEYS[1], 'head', cjson.encode(head))
return { 1, now }
`);

/** Forgets ended tasks, which never move again. KEYS: index, then tasks. ARGV: their ids. */
export const forgetScript = makeScript(`
redis.call('ZREM', KEYS[1], unpack(ARGV))
for i = 2, #KEYS do redis.call('DEL', KEYS[i]) end
return 1
`);
