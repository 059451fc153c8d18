/** Evidence in two lists: what the host verified, and what was only asserted. */
import { dispositionOf, type Task, type WeighedEvidence } from '../../../lanes/index.ts';
import type { Limits } from './limits.ts';
import { cell, codeSpan } from './text.ts';

interface EvidenceLine {
  readonly id: string;
  readonly pieces: string;
}

/** Lines for the templates, by standing. Only what supports a criterion that the task has. */
export function evidenceLists(
  task: Task,
  limits: Pick<Limits, 'evidenceRows' | 'evidencePieces'>,
): { verified: EvidenceLine[]; asserted: EvidenceLine[] } {
  const lines = (standing: WeighedEvidence['standing']): EvidenceLine[] =>
    task.criteria
      .map(({ id }) => {
        const all = (dispositionOf(task.dispositions, id)?.evidence ?? []).filter(
          (one) => one.standing === standing,
        );
        return { id, pieces: pieceList(all, limits.evidencePieces) };
      })
      .filter(({ pieces }) => pieces !== '')
      .slice(0, limits.evidenceRows);
  return { verified: lines('verified'), asserted: lines('asserted') };
}

function pieceList(all: readonly WeighedEvidence[], max: number): string {
  if (max === 0) return '';
  const shown = all.slice(0, max).map(piece);
  const more = all.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

function piece({ evidence, how }: WeighedEvidence): string {
  const told = how.trim() === '' ? '' : ` (${cell(how, 200)})`;
  if (evidence.kind === 'check') return `check ${codeSpan(evidence.name, 100)}${told}`;
  if (evidence.kind === 'file') return `file ${codeSpan(evidence.path, 200)}${told}`;
  if (evidence.kind === 'commit') return `commit ${codeSpan(evidence.sha, 64)}${told}`;
  if (evidence.kind === 'url') return `${cell(evidence.url, 300)}${told}`;
  return `“${cell(evidence.text, 300)}”${told}`;
}
