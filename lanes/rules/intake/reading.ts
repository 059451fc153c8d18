/** Whether what was read out of a body is enough to work on, and if not, for which reason a task parks. */
import type { ParkReason } from '../../records/tasks.ts';

/** What the bounded parse of a body gave, as far as admission looks at it. */
export type BodyReading =
  | { readonly kind: 'unreadable'; readonly why: string }
  | {
      readonly kind: 'read';
      /** How many criteria stand in the body now. */
      readonly criteria: number;
      readonly placeholders: readonly string[];
      /** Task items outside any section of criteria, to propose. */
      readonly fallbackTasklist: readonly string[];
    };

export type ReadingVerdict =
  | { readonly kind: 'usable' }
  | { readonly kind: 'park'; readonly reason: ParkReason; readonly detail: string };

/** More criteria than a person oversees are asked about. */
const maxCriteria = 200;
const maxDetail = 3_900;

/** The reasons that an edit by a permitted person can lift by itself. */
export const liftedByEdit: ReadonlySet<string> = new Set([
  'no_criteria',
  'only_placeholders',
  'too_many_criteria',
  'unreadable_body',
]);

/** For these two reasons the detail is what was found, one item a line. */
function itemLines(items: readonly string[]): string {
  return items
    .map((item) => item.replace(/\s+/g, ' ').trim())
    .join('\n')
    .slice(0, maxDetail);
}

/** What a task that is parked for missing criteria has found instead, to propose. */
export function foundInstead(reason: string | undefined, detail: string | undefined): string[] {
  if (reason !== 'no_criteria' && reason !== 'only_placeholders') return [];
  return (detail ?? '').split('\n').filter((line) => line !== '');
}

/** Judges a reading. `onNoCriteria` is the lane's: with `run`, a body without criteria is worked on all the same. */
export function judgeReading(reading: BodyReading, onNoCriteria: 'park' | 'run'): ReadingVerdict {
  if (reading.kind === 'unreadable') return { kind: 'park', reason: 'unreadable_body', detail: reading.why };
  if (reading.criteria > maxCriteria) {
    const detail = `${reading.criteria} criteria were found; at most ${maxCriteria} are handled.`;
    return { kind: 'park', reason: 'too_many_criteria', detail };
  }
  if (reading.criteria > 0 || onNoCriteria === 'run') return { kind: 'usable' };
  return reading.placeholders.length > 0
    ? { kind: 'park', reason: 'only_placeholders', detail: itemLines(reading.placeholders) }
    : { kind: 'park', reason: 'no_criteria', detail: itemLines(reading.fallbackTasklist) };
}
