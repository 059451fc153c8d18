/** The table of criteria: one row each, in the order of the issue, with the verdict in words. */
import {
  type Criterion,
  type Disposition,
  dispositionOf,
  type OpenCriterion,
  type Task,
} from '../../../lanes/index.ts';
import type { Limits } from './limits.ts';
import { cell } from './text.ts';
import { byWords, kindWords, verdictWords } from './words.ts';

export interface CriterionRow {
  readonly id: string;
  readonly text: string;
  readonly verdict: string;
  readonly by: string;
  readonly evidence: string;
}

/** One row for each criterion of the task. Those that the gate finds open say why. */
export function criterionRows(
  task: Task,
  open: readonly OpenCriterion[],
  limits: Pick<Limits, 'cell' | 'reason'>,
): CriterionRow[] {
  const why = new Map(open.map((one) => [one.criterion, one.why]));
  return task.criteria.map((criterion) => {
    const disposition = dispositionOf(task.dispositions, criterion.id);
    return {
      id: criterion.id,
      text: criterionText(criterion, limits.cell),
      verdict: verdict(disposition, why.get(criterion.id), limits.reason),
      by: disposition === undefined ? '–' : byWords(disposition),
      evidence: evidenceCount(disposition),
    };
  });
}

function criterionText(criterion: Criterion, maxChars: number): string {
  const label = criterion.label === undefined ? '' : `${criterion.label}: `;
  const known = criterion.text.startsWith(criterion.label ?? '\u0000') ? '' : label;
  const text = cell(known + criterion.text, maxChars);
  return criterion.removed ? `~~${text}~~` : text;
}

function verdict(
  disposition: Disposition | undefined,
  why: OpenCriterion['why'] | undefined,
  maxReason: number,
): string {
  const reason = disposition?.reason === undefined ? '' : cell(disposition.reason, maxReason);
  const because = reason === '' ? '' : `: ${reason}`;
  if (why === undefined)
    return disposition === undefined ? '–' : `**${verdictWords(disposition)}**${because}`;
  if (why === 'removed_without_disposition') return '**open**: its line was removed from the issue';
  if (disposition === undefined) return '**open**';
  const words = kindWords[disposition.kind];
  if (why === 'stale') return `**open**: reworded since it was judged “${words}”`;
  if (why === 'unverified') return `**open**: “${words}”, but not verified${because}`;
  return `**open**: ${words}${because}`;
}

function evidenceCount(disposition: Disposition | undefined): string {
  const all = disposition?.evidence ?? [];
  const verified = all.filter(({ standing }) => standing === 'verified').length;
  const parts = [
    ...(verified > 0 ? [`${verified} verified`] : []),
    ...(all.length > verified ? [`${all.length - verified} asserted`] : []),
  ];
  return parts.length === 0 ? '–' : parts.join(', ');
}
