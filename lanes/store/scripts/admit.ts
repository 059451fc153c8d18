/** Admission: the record is made once; a second admission of the same id answers with the one that is there. */
import { makeScript } from '../script.ts';
import { luaLedger, luaNow } from './shared.ts';

/**
 * KEYS: task, epoch, index, effects, ledger.
 * ARGV: 1 task id, 2 score, 3 a fresh epoch, 4 by, 5 detail, 6 doc, 7 head; then the effects.
 * Answers { 1, now } if made, { 0, now } if it was there.
 */
export const admitScript = makeScript(`
${luaNow}
if redis.call('EXISTS', KEYS[1]) == 1 then return { 0, now } end
${luaLedger}
local epoch = redis.call('GET', KEYS[2])
if not epoch then
  epoch = ARGV[3]
  redis.call('SET', KEYS[2], epoch)
end
redis.call('HSET', KEYS[1], 'doc', ARGV[6], 'head', ARGV[7], 'epoch', epoch, 'leaseEndsAtMs', '0')
redis.call('ZADD', KEYS[3], ARGV[2], ARGV[1])
for i = 8, #ARGV do
  redis.call('XADD', KEYS[4], '*', 'effect', ARGV[i])
end
record(KEYS[5], 'admitted', ARGV[1], 0, 0, ARGV[4], ARGV[5])
return { 1, now }
`);
