/** What the records of a ledger cannot tell. A report says so, or its zeros would be taken for more than they are. */

/** Always true of these records, whatever is in them. */
export const notShown: readonly string[] = [
  'Only the records of this data directory were read: what other machines wrote, and what was lost with a disk, is not in them.',
  "Events that are still in Redis and not yet archived, and those of namespaces that the operator's file no longer names, are not in them.",
  'Runs of boxes have no machine events: their copies, captures and deaths are counted nowhere here.',
  'A run that reaches over the end of a week has its claim in one week and its end in the next: read over one week it may seem to have no end.',
  'Whether a patch is any good is not recorded. Saved is what was in the files of a copy when it was captured: not what a process held in memory, what it wrote elsewhere, what was ignored by .gitignore rules or, where a patch is partial, what its receipt names as missing.',
  'The bound of lost work counts the deaths recorded here and takes them for independent of each other; it says nothing of other causes of death, or of what was never recorded.',
  'Unattributed means that no record shows a cause. Who sent a signal, and why a supervisor ended that did not say so, is not recorded.',
  'Of one identity that is refused again and again at most ten refusals a second are written down; `lanekeeper refusals` has the counts of all.',
];
