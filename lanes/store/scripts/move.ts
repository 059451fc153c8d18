/** Move: writes a transition that a rule has decided, if the record is still the one that the rule saw. */
import { makeBatchScript } from '../batch.ts';
import { makeScript } from '../script.ts';
import { luaHead, luaQueued } from './head.ts';

/**
 * The mode says what must hold of the lease: `held` by the one given; `ended`, for the keeper; `any`, for people. A
 * record by the lease that recorded last is answered `already`: the first answer was lost on its way. A task that stays
 * in its state and at its time stays where it is in the index, where a renewal may be moving it at the same time.
 *
 * Order: mode, lease (its text), from (the first lines of the head: lease, state, revision), fromEpoch, task, score (empty
 * where it stays), line, texts. Texts: doc, head, then the effects.
 * Answers { 'moved' | 'missing' | 'lease_lost' | 'already' | 'conflict' }.
 */
export const moveScript = makeBatchScript(
  ['states', 'effects', 'ledger'],
  ['mode', 'lease', 'from', 'fromEpoch', 'task', 'score', 'line', 'texts'],
  `
${luaHead}
local held = mode == 'held'
local is = redis.call('HMGET', key, 'head', 'epoch', 'leaseEndsAtMs')
if not is[1] then return { held and 'lease_lost' or 'missing' } end
local head = is[1]
local ended = tonumber(is[3]) <= now
if held and (ended or not headIs(head, lease .. '\\n')) then
  return { string.sub(head, -#lease - 1) == '\\n' .. lease and 'already' or 'lease_lost' }
end
if not headIs(head, from) or is[2] ~= fromEpoch then return { 'conflict' } end
if mode == 'ended' and not ended then return { 'conflict' } end
redis.call('HSET', key, 'doc', text(1), 'head', text(2))
if score ~= '' then place(task, score) end
for i = 3, tonumber(texts) do
  redis.call('XADD', keys.effects, '*', 'effect', text(i))
end
record(line)
return { 'moved' }
`,
);

/**
 * Another wake-up for a queued task whose own is gone; two keepers at once count it once.
 * Order: expected (its revision). Answers { 1 if counted else 0 }.
 */
export const rewakeScript = makeBatchScript(
  [],
  ['expected'],
  `
${luaQueued}
local head = redis.call('HGET', key, 'head')
local revision, fence, run, runsUsed, wakes, notBeforeMs, rest = matchQueued(head or '')
if revision ~= expected then return { 0 } end
redis.call('HSET', key, 'head', string.format('\\nqueued\\n%d\\n%s\\n%s\\n%s\\n%d\\n%s\\n%s', revision + 1, fence, run, runsUsed,
  wakes + 1, notBeforeMs, rest))
return { 1 }
`,
);

/** Forgets ended tasks, which never move again. KEYS: index, then tasks. ARGV: their ids. */
export const forgetScript = makeScript(`
redis.call('ZREM', KEYS[1], unpack(ARGV))
for i = 2, #KEYS do redis.call('DEL', KEYS[i]) end
return 1
`);
