/**
 * The head of a task as scripts read it: a line a field, the lease first, then state and revision, so that what a
 * decision was based on is compared in one go. As JSON, reading and writing it cost Redis more than the rest of a claim.
 */

/** `headIs(head, start)`: whether it begins with these lines. `stateOf(head)`. */
export const luaHead = `
local function headIs(head, start) return string.find(head, start, 1, true) == 1 end
local function stateOf(head) return string.match(head, '^[^\\n]*\\n(%l+)') end
`;

/** `matchQueued(head)`: revision, fence, run, runsUsed, wakes, notBeforeMs, the rest; nothing unless it is queued. */
export const luaQueued = `
local function matchQueued(head)
  return string.match(head, '^\\nqueued\\n(%d+)\\n(%d+)\\n(%d+)\\n(%d+)\\n(%d+)\\n(%d+)\\n(.*)$')
end
`;
