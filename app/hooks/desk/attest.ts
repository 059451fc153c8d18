/** Which boxes an edit ticked: the body before and after it, matched with the criteria that are known. */
import {
  type Criterion,
  matchCriteria,
  type Ticks,
  ticksBetween,
  ticksThatStand,
} from '../../../lanes/index.ts';
import type { BodyOutcome } from './port.ts';

export const noTicks: Ticks = { ticked: [], unticked: [] };

/** The bodies that an edit is judged by. */
export interface EditedBody {
  readonly before: BodyOutcome;
  readonly after: BodyOutcome;
  /** As a fresh look finds it: an edit may be told late, or again. */
  readonly now: BodyOutcome;
}

/** A criterion that was not there before is not attested by coming ticked; nor is one that was changed since. */
export function ticksOfEdit(known: readonly Criterion[], { before, after, now }: EditedBody): Ticks {
  const left = standing(known, after);
  return ticksThatStand(ticksBetween(standing(known, before), left), left, standing(known, now));
}

/** The known criteria as they stand in a body. What is not known has no id that would mean anything. */
function standing(known: readonly Criterion[], outcome: BodyOutcome): Criterion[] {
  if (outcome.kind === 'unreadable') return [];
  const ids = new Set(known.map((criterion) => criterion.id));
  let count = 0;
  const mint = (): string => {
    count += 1;
    return `new${count.toString(36)}`;
  };
  return matchCriteria(known, outcome.reading.criteria, mint).criteria.filter(({ id }) => ids.has(id));
}
