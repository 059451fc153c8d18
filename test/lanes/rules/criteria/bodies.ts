/** How bodies and their answers are written down, one line for each criterion. */
import type { CriteriaReading, ReadCriterion } from '../../../../lanes/rules/criteria/index.ts';

export type Body = {
  title: string;
  body: string;
  section: string | null;
  /** As `brief` writes them. */
  criteria: string[];
  rest?: Omit<CriteriaReading, 'criteria' | 'section'>;
};

/** "[x] text" for a ticked box, "- text" without one, a ">" for each level, then what else is known in braces. */
export function brief(criterion: ReadCriterion): string {
  const { text, checked, checkbox, depth, ...more } = criterion;
  const box = checkbox ? (checked ? '[x]' : '[ ]') : '-';
  const known = Object.entries(more).map(
    ([key, value]) => `${key}=${Array.isArray(value) ? value.join(' | ') : value}`,
  );
  return `${'>'.repeat(depth)}${box} ${text}${known.length > 0 ? ` {${known.join('; ')}}` : ''}`;
}
