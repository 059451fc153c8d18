/** Which boxes an edit ticked: the body before and after it, matched with the criteria that are known. */
import { type Criterion, matchCriteria } from '../../../lanes/index.ts';
import type { BodyOutcome } from './port.ts';

export interface Ticks {
  /** Ids of criteria whose box was empty before the edit and is ticked after it. */
  readonly ticked: readonly string[];
  readonly unticked: readonly string[];
}

export const noTicks: Ticks = { ticked: [], unticked: [] };

/** A criterion that was not there before is not attested by coming ticked. */
export function ticksBetween(known: readonly Criterion[], before: BodyOutcome, after: BodyOutcome): Ticks {
  const old = boxesOf(known, before);
  const now = boxesOf(known, after);
  const ids = [...now.keys()].filter((id) => old.has(id));
  return {
    ticked: ids.filter((id) => now.get(id) === true && old.get(id) === false),
    unticked: ids.filter((id) => now.get(id) === false && old.get(id) === true),
  };
}

/** Box by criterion id, of the criteria that are known and stand in the body. */
function boxesOf(known: readonly Criterion[], outcome: BodyOutcome): Map<string, boolean> {
  if (outcome.kind === 'unreadable') return new Map();
  let count = 0;
  const mint = (): string => `z${(count += 1).toString(36)}zz`;
  const ids = new Set(known.map((criterion) => criterion.id));
  const { criteria } = matchCriteria(known, outcome.reading.criteria, mint);
  const standing = criteria.filter(({ id, removed, checkbox }) => ids.has(id) && !removed && checkbox);
  return new Map(standing.map(({ id, checked }) => [id, checked]));
}
