/**
 * Ticks as attestations: which boxes an edit ticked. The caller knows that a permitted person made the edit, and gives
 * the criteria of the body before and after it, matched to the same ids.
 */
import type { Criterion } from '../records/criteria.ts';

/** What matters of a criterion here. */
export type Box = Pick<Criterion, 'id' | 'checkbox' | 'checked' | 'removed'>;

/** A box with the words that are behind it. */
export type Words = Box & Pick<Criterion, 'text' | 'detail'>;

export interface Ticks {
  /** Ids of the boxes that were empty before and are ticked now: each says "met". */
  readonly ticked: readonly string[];
  /** Ids of the boxes that were ticked before and are empty now: each takes that back. */
  readonly unticked: readonly string[];
}

/**
 * What an edit did to the boxes. A criterion that appears already ticked, or whose line was removed, says nothing: only a
 * box that was seen in both states was ticked by this edit.
 */
export function ticksBetween(before: readonly Box[], after: readonly Box[]): Ticks {
  const earlier = new Map(before.filter(isBox).map((box) => [box.id, box.checked]));
  const boxes = after.filter(isBox);
  return {
    ticked: boxes.filter(({ id, checked }) => checked && earlier.get(id) === false).map(({ id }) => id),
    unticked: boxes.filter(({ id, checked }) => !checked && earlier.get(id) === true).map(({ id }) => id),
  };
}

/**
 * The ticks of an edit that still hold. Between the edit and our look the author may have put other words behind the
 * box, and an old edit may be told once more: a person's word counts for the words that stood there, while they stand.
 */
export function ticksThatStand(ticks: Ticks, then: readonly Words[], now: readonly Words[]): Ticks {
  const left = new Map(then.map((box) => [box.id, box]));
  const found = new Map(now.map((box) => [box.id, box]));
  const stands = (id: string): boolean => {
    const [before, after] = [left.get(id), found.get(id)];
    return before !== undefined && after !== undefined && sameWords(before, after);
  };
  return { ticked: ticks.ticked.filter(stands), unticked: ticks.unticked.filter(stands) };
}

function sameWords(one: Words, other: Words): boolean {
  const details = [one, other].map(({ detail }) => JSON.stringify(detail ?? []));
  return (
    one.text === other.text && details[0] === details[1] && one.checked === other.checked && !other.removed
  );
}

function isBox({ checkbox, removed }: Box): boolean {
  return checkbox && !removed;
}
