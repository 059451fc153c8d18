/** Move: writes a transition that a rule has decided, if the record is still the one that the rule saw. */
import { makeBatchScript } from '../batch.ts';
import { makeScript } from '../script.ts';
import { luaWriteHead } from './head.ts';

/**
 * The mode says what must hold of the lease: `held` by the one given; `ended`, for the keeper; `any`, for people. A
 * record by the lease that recorded last is answered `already`: the first answer was lost on its way. A task that stays
 * in its state stays where it is in the index, where a renewal may be moving it at the same time.
 *
 * Shared keys: index, effects, ledger. Order: mode, lease (its text), fromState, fromRevision, fromEpoch, task, score (empty
 * where the state stays), event, run, fence, by, detail. Texts: doc, head, then the effects.
 * Answers { 'moved' | 'missing' | 'lease_lost' | 'already' | 'conflict' }.
 */
export const moveScript = makeBatchScript(
  3,
  [
    ...['mode', 'lease', 'fromState', 'fromRevision', 'fromEpoch', 'task', 'score'],
    ...['event', 'run', 'fence', 'by', 'detail'],
  ] as const,
  `
local held = order.mode == 'held'
local is = redis.call('HMGET', task, 'head', 'epoch', 'leaseEndsAtMs')
if not is[1] then return { held and 'lease_lost' or 'missing' } end
local head = cjson.decode(is[1])
local ended = tonumber(is[3]) <= now
if held and head.recordedBy == order.lease then return { 'already' } end
if held and (head.lease ~= order.lease or ended) then return { 'lease_lost' } end
if head.state ~= order.fromState or head.revision ~= tonumber(order.fromRevision) or is[2] ~= order.fromEpoch then
  return { 'conflict' }
end
if order.mode == 'ended' and not ended then return { 'conflict' } end
redis.call('HSET', task, 'doc', text(1), 'head', text(2))
if order.score ~= '' then redis.call('ZADD', KEYS[1], order.score, order.task) end
for i = 3, texts do
  redis.call('XADD', KEYS[2], '*', 'effect', text(i))
end
record(KEYS[3], order.event, order.run, order.fence, order.by, order.detail)
return { 'moved' }
`,
);

/**
 * Another wake-up for a queued task whose own is gone; two keepers at once count it once.
 * Order: revision. Answers { 1 if counted else 0 }.
 */
export const rewakeScript = makeBatchScript(
  0,
  ['revision'],
  `
${luaWriteHead}
local is = redis.call('HGET', task, 'head')
local head = is and cjson.decode(is)
if not head or head.state ~= 'queued' or head.revision ~= tonumber(order.revision) then return { 0 } end
head.wakes, head.revision = head.wakes + 1, head.revision + 1
redis.call('HSET', task, 'head', write(head))
return { 1 }
`,
);

/** Forgets ended tasks, which never move again. KEYS: index, then tasks. ARGV: their ids. */
export const forgetScript = makeScript(`
redis.call('ZREM', KEYS[1], unpack(ARGV))
for i = 2, #KEYS do redis.call('DEL', KEYS[i]) end
return 1
`);
