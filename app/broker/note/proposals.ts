/** The agent's proposals: verdicts that only a person may set, each with the command that accepts it. */
import type { Disposition } from '../../../lanes/index.ts';
import type { Limits } from './limits.ts';
import { cell } from './text.ts';
import { idWords, verdictWords } from './words.ts';

export interface ProposalLine {
  readonly id: string;
  readonly verdict: string;
  readonly reason: string;
  readonly command: string;
}

/** One line for each proposal. */
export function proposalLines(
  proposals: readonly Disposition[],
  limits: Pick<Limits, 'reason' | 'rows'>,
): ProposalLine[] {
  return proposals.slice(0, limits.rows).map((proposal) => ({
    id: idWords(proposal.criterion),
    verdict: verdictWords(proposal),
    reason: cell(proposal.reason ?? '', limits.reason),
    command: acceptCommand(proposal),
  }));
}

/** The command by which a person accepts this one proposal. */
function acceptCommand({ criterion, kind, target }: Disposition): string {
  const id = idWords(criterion);
  const issue = /^#[1-9]\d{0,9}$/.test(target ?? '') ? target : '#<n>';
  const other = /^(?:#[1-9]\d{0,9}|[a-z0-9]{2,16})$/.test(target ?? '') ? target : '<by>';
  if (kind === 'moved') return `/lane moved ${id} ${issue}`;
  if (kind === 'superseded') return `/lane superseded ${id} ${other}`;
  if (kind === 'not_applicable') return `/lane na ${id} <why>`;
  if (kind === 'withdrawn') return `/lane withdraw ${id} <why>`;
  return kind === 'waived' ? `/lane waive ${id} <why>` : `/lane met ${id} <evidence>`;
}
