/** Finding the criterion that a person means. */
import type { Criterion } from '../../records/criteria.ts';
import { nearest } from './near.ts';
import type { CommandAnswer } from './types.ts';

export type Found =
  | { readonly ok: true; readonly criterion: Criterion }
  | { readonly ok: false; readonly answer: CommandAnswer };

/** By its id, else by the author's own label (`AC-1`) where only one criterion has it. Case does not matter. */
export function findCriterion(criteria: readonly Criterion[], given: string): Found {
  const word = given.toLowerCase();
  const byId = criteria.find(({ id }) => id === word);
  if (byId !== undefined) return { ok: true, criterion: byId };
  const labelled = criteria.filter(({ label }) => label?.toLowerCase() === word);
  const [only, ...others] = labelled;
  if (only !== undefined && others.length === 0) return { ok: true, criterion: only };
  if (only !== undefined) {
    return { ok: false, answer: { code: 'ambiguous_label', id: given, ids: labelled.map(({ id }) => id) } };
  }
  const names = criteria.flatMap(({ id, label }) => (label === undefined ? [id] : [id, label]));
  return { ok: false, answer: { code: 'unknown_id', id: given, near: nearest(given, names) } };
}
