/** Which boxes an edit ticked: the body before and after it, matched with the criteria that are known. */
import { type Criterion, matchCriteria, type Ticks, ticksBetween } from '../../../lanes/index.ts';
import type { BodyOutcome } from './port.ts';

export const noTicks: Ticks = { ticked: [], unticked: [] };

/** A criterion that was not there before is not attested by coming ticked. */
export function ticksOfEdit(known: readonly Criterion[], before: BodyOutcome, after: BodyOutcome): Ticks {
  return ticksBetween(standing(known, before), standing(known, after));
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
