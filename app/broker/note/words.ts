/** Words for people. */
import type { Disposition, DispositionKind } from '../../../lanes/index.ts';
import { cell } from './text.ts';

export const kindWords: Record<DispositionKind, string> = {
  met: 'met',
  waived: 'waived',
  moved: 'moved',
  superseded: 'superseded',
  not_applicable: 'not applicable',
  withdrawn: 'withdrawn',
  not_met: 'not met',
  partial: 'partly met',
  blocked: 'blocked',
  cannot_tell: 'cannot tell',
};

/** Who gave a verdict. */
export function byWords({ by }: Disposition): string {
  return by.kind === 'agent' ? `agent, run ${by.run}` : cell(by.person.login, 64);
}

/** `moved to #12`, `superseded by c3f9`, else the kind alone. */
export function verdictWords({ kind, target }: Disposition): string {
  if (target === undefined || target === '') return kindWords[kind];
  const safe = cell(target, 80);
  if (kind === 'moved') return `moved to ${safe}`;
  return kind === 'superseded' ? `superseded by ${safe}` : kindWords[kind];
}

/** An id as it may stand in a code span and a command; an agent may have written anything. */
export function idWords(id: string): string {
  return id.replace(/[^A-Za-z0-9-]/g, '').slice(0, 16);
}
