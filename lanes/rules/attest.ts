/**
 * Ticks as attestations: which boxes an edit ticked. The caller knows that a permitted person made the edit, and gives
 * the criteria of the body before and after it, matched to the same ids.
 */
import type { Criterion } from '../records/criteria.ts';

/** What matters of a criterion here. */
export type Box = Pick<Criterion, 'id' | 'checkbox' | 'checked' | 'removed'>;

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

function isBox({ checkbox, removed }: Box): boolean {
  return checkbox && !removed;
}
