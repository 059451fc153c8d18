/**
 * What a lease's holder does while it runs: begin, and renew. Neither moves the task. All of the lease is compared -
 * id, fence, run, epoch, worker, in one text: after a wipe the numbers start anew and may fit by chance.
 */
import { makeBatchScript } from '../batch.ts';
import { rankOf } from '../scores.ts';
import { luaHead } from './head.ts';

/** Answers { 0 } unless the task runs under the order's lease, and that has not ended. */
const luaHeld = `
${luaHead}
local is = redis.call('HMGET', key, 'head', 'leaseEndsAtMs')
if not is[1] or not headIs(is[1], lease .. '\\nrunning\\n') or tonumber(is[2]) <= now then return { 0 } end
`;

/** Only looks: that a run has begun stands in its machine's ledger. Order: lease (its text). Answers { 1 if held else 0 }. */
export const beginScript = makeBatchScript([], ['lease'], `${luaHeld}return { 1 }`);

/**
 * The revision stays: no decision rests on when a lease ends, or on how far a run is.
 * Order: lease (its text), task, ttlMs, progress (empty where there is nothing new to say). Answers { the lease's new end, or 0 }.
 */
export const renewScript = makeBatchScript(
  ['states'],
  ['lease', 'task', 'ttlMs', 'progress'],
  `
${luaHeld}
local ends = now + ttlMs
redis.call('HSET', key, 'leaseEndsAtMs', string.format('%d', ends))
if progress ~= '' then redis.call('HSET', key, 'progress', progress) end
place(task, string.format('%d', ${rankOf('running')} + ends))
return { ends }
`,
);
