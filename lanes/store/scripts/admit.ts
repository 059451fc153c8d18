/** Admission: the record is made once; a second admission of the same id changes nothing. */
import { makeBatchScript } from '../batch.ts';

/**
 * Order: task, score, freshEpoch, line, texts. Texts: doc, head, then the effects. Answers { 1 if made else 0 }.
 */
export const admitScript = makeBatchScript(
  ['epoch', 'states', 'effects', 'ledger'],
  ['task', 'score', 'freshEpoch', 'line', 'texts'],
  `
if redis.call('EXISTS', key) == 1 then return { 0 } end
if not epoch then
  epoch = freshEpoch
  redis.call('SET', keys.epoch, epoch)
end
redis.call('HSET', key, 'doc', text(1), 'head', text(2), 'epoch', epoch, 'leaseEndsAtMs', '0')
place(task, score)
for i = 3, tonumber(texts) do
  redis.call('XADD', keys.effects, '*', 'effect', text(i))
end
record(line)
return { 1 }
`,
  `local epoch = redis.call('GET', keys.epoch)`,
);
