/**
 * Pieces of Lua that the scripts share. Their small arguments come as one JSON object, `order`: a client pays for every
 * argument more than Redis pays for reading the object.
 */

/** Reads the first argument into `order`. */
export const luaOrder = `
local order = cjson.decode(ARGV[1])
`;

/** Reads Redis's clock into `now`, in ms. */
export const luaNow = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
`;

/** Defines `record(key, event, run, fence, by, detail)`: one line of the ledger on the order's task. */
export const luaLedger = `
local function record(key, event, run, fence, by, detail)
  redis.call('XADD', key, '*', 'event', event .. ' ' .. order.task .. ' ' .. run .. ' ' .. fence,
    'by', by, 'detail', detail)
end
`;

/**
 * The task hash. `head` is JSON with what scripts compare and change; `doc` is JSON with the rest, which they pass on;
 * `epoch` is the store's stamp; `leaseEndsAtMs` is moved by renewals alone. Four fields and not one for each scalar: a
 * hash of many fields next to a long one costs Redis several times as much.
 */
export const taskFields = ['doc', 'head', 'epoch', 'leaseEndsAtMs'] as const;
