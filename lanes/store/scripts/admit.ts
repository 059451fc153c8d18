/** Admission: the record is made once; a second admission of the same id answers with the one that is there. */
import { makeScript } from '../script.ts';
import { luaLedger, luaNow, luaOrder } from './shared.ts';

/**
 * KEYS: task, epoch, index, effects, ledger.
 * ARGV: { task, score, epoch: a fresh one, by, detail }, doc, head; then the effects.
 * Answers { 1, now } if made, { 0, now } if it was there.
 */
export const admitScript = makeScript(`
${luaNow}
if redis.call('EXISTS', KEYS[1]) == 1 then return { 0, now } end
${luaOrder}
${luaLedger}
local epoch = redis.call('GET', KEYS[2])
if not epoch then
  epoch = order.epoch
  redis.call('SET', KEYS[2], epoch)
end
redis.call('HSET', KEYS[1], 'doc', ARGV[2], 'head', ARGV[3], 'epoch', epoch, 'leaseEndsAtMs', '0')
redis.call('ZADD', KEYS[3], order.score, order.task)
for i = 4, #ARGV do
  redis.call('XADD', KEYS[4], '*', 'effect', ARGV[i])
end
record(KEYS[5], 'admitted', 0, 0, order.by, order.detail)
return { 1, now }
`);
