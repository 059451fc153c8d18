/** Pieces of Lua that the scripts share, and the order of the fields that they answer with. */

/** Reads Redis's clock into `now`, in ms. */
export const luaNow = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
`;

/** The ledger keeps this many events a namespace in Redis. */
export const ledgerKept = 100_000;

/** Defines `record(key, event, task, run, fence, by, detail)`: one line of the ledger. */
export const luaLedger = `
local function record(key, event, task, run, fence, by, detail)
  redis.call('XADD', key, 'MAXLEN', '~', ${ledgerKept}, '*', 'event', event, 'task', task, 'run', run,
    'fence', fence, 'by', by, 'detail', detail, 'atMs', now)
end
`;

/** The task hash: scalars that scripts compare or change on their own, and `doc`, the rest as JSON. */
export const taskFields = [
  'doc',
  'state',
  'revision',
  'fence',
  'run',
  'runsUsed',
  'wakes',
  'noteSequence',
  'notBeforeMs',
  'changedAtMs',
  'epoch',
  'claimedBy',
  'leaseId',
  'leaseWorker',
  'leaseEndsAtMs',
] as const;

const quoted = taskFields.map((field) => `'${field}'`).join(', ');

/** `task(key)`: the record's fields in the order of `taskFields`. */
export const luaTask = `
local function task(key)
  return redis.call('HMGET', key, ${quoted})
end
`;

/**
 * Defines `holds(key, lease)`: whether a lease - id, fence, worker, run, epoch - is the one that the task is running
 * under, and has not ended. All of it is compared: after a wipe the numbers start anew and may fit by chance.
 */
export const luaHolds = `
local function holds(key, id, fence, worker, run, epoch)
  local is = redis.call('HMGET', key, 'state', 'leaseId', 'fence', 'leaseWorker', 'run', 'epoch', 'leaseEndsAtMs')
  return is[1] == 'running' and is[2] == id and is[3] == fence and is[4] == worker and is[5] == run
    and is[6] == epoch and tonumber(is[7]) > now
end
`;
