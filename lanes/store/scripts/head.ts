/**
 * The head of a task, written in Lua. Lua and cjson print every number as floating point, which costs Redis more than the
 * rest of a claim; all of these are whole.
 */

/** Defines `write(head)`: its JSON, with the fields of `headSchema`. */
export const luaWriteHead = `
local function write(head)
  return string.format(
    '{"state":"%s","revision":%d,"fence":%d,"run":%d,"runsUsed":%d,"wakes":%d,"notBeforeMs":%d,"changedAtMs":%d,'
      .. '"claimedBy":%s,"lease":%s,"recordedBy":%s}',
    head.state, head.revision, head.fence, head.run, head.runsUsed, head.wakes, head.notBeforeMs, head.changedAtMs,
    cjson.encode(head.claimedBy), cjson.encode(head.lease), cjson.encode(head.recordedBy))
end
`;
