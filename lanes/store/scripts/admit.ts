/** Admission: the record is made once; a second admission of the same id changes nothing. */
import { makeBatchScript } from '../batch.ts';

/**
 * Shared keys: epoch, index, effects, ledger. Order: task, score, epoch (a fresh one), by, detail. Texts: doc, head,
 * then the effects. Answers { 1 if made else 0 }.
 */
export const admitScript = makeBatchScript(
  4,
  ['task', 'score', 'epoch', 'by', 'detail'],
  `
if redis.call('EXISTS', task) == 1 then return { 0 } end
local epoch = redis.call('GET', KEYS[1])
if not epoch then
  epoch = order.epoch
  redis.call('SET', KEYS[1], epoch)
end
redis.call('HSET', task, 'doc', text(1), 'head', text(2), 'epoch', epoch, 'leaseEndsAtMs', '0')
redis.call('ZADD', KEYS[2], order.score, order.task)
for i = 3, texts do
  redis.call('XADD', KEYS[3], '*', 'effect', text(i))
end
record(KEYS[4], 'admitted', 0, 0, order.by, order.detail)
return { 1 }
`,
);
