/** Admission: the record is made once; a second admission of the same id answers with the one that is there. */
import { makeScript } from '../script.ts';
import { luaLedger, luaNow, luaTask } from './shared.ts';

/**
 * KEYS: task, epoch, state index, effects, ledger.
 * ARGV: task id, score, a fresh epoch, by, detail, number of effects, the effects, then the record's fields and values.
 * Answers { 1 if made else 0, now, fields… }.
 */
export const admitScript = makeScript(`
${luaNow}
${luaLedger}
${luaTask}
if redis.call('EXISTS', KEYS[1]) == 1 then
  return { 0, now, task(KEYS[1]) }
end
redis.call('SET', KEYS[2], ARGV[3], 'NX')
local effects = tonumber(ARGV[6])
redis.call('HSET', KEYS[1], 'epoch', redis.call('GET', KEYS[2]), unpack(ARGV, 7 + effects))
redis.call('ZADD', KEYS[3], ARGV[2], ARGV[1])
for i = 7, 6 + effects do
  redis.call('XADD', KEYS[4], '*', 'effect', ARGV[i])
end
record(KEYS[5], 'admitted', ARGV[1], 0, 0, ARGV[4], ARGV[5])
return { 1, now, task(KEYS[1]) }
`);
