/** Accepting the agent's proposals: they become the person's verdicts, where they still fit. */
import type { Disposition, Dispositions } from '../../records/dispositions.ts';
import type { Task } from '../../records/tasks.ts';
import type { IssueCheck, Plan } from './types.ts';
import { type Giver, targetOf, verdictBy } from './verdict.ts';

/**
 * Accepts every proposal that still fits: its criterion reads as it was judged, and a target that it needs is there.
 * The others stay proposals, for a command that names what they lack.
 */
export function planAccept(task: Task, giver: Giver): Plan {
  const dispositions: Dispositions = {};
  const left: Disposition[] = [];
  const checks: IssueCheck[] = [];
  for (const proposal of task.proposals) {
    const accepted = accept(task, proposal, giver);
    if (accepted === undefined) {
      left.push(proposal);
      continue;
    }
    dispositions[accepted.verdict.criterion] = accepted.verdict;
    checks.push(...accepted.checks);
  }
  if (Object.keys(dispositions).length === 0) return { kind: 'answer', code: 'nothing_to_accept' };
  return { kind: 'accept', dispositions, left, checks };
}

function accept(
  task: Task,
  proposal: Disposition,
  giver: Giver,
): { verdict: Disposition; checks: readonly IssueCheck[] } | undefined {
  const criterion = task.criteria.find(({ id }) => id === proposal.criterion);
  if (criterion === undefined || criterion.revision !== proposal.revision) return undefined;
  const verdict = {
    ...verdictBy(giver, criterion, proposal.kind),
    reason: proposal.reason ?? `proposed by the agent, accepted by ${giver.actor.login}`,
    evidence: proposal.evidence,
  };
  if (proposal.kind !== 'moved' && proposal.kind !== 'superseded') return { verdict, checks: [] };
  if (proposal.kind === 'moved' && !proposal.target?.startsWith('#')) return undefined;
  const target = targetOf(task, proposal, proposal.target ?? '');
  return target.ok ? { verdict: { ...verdict, target: target.target }, checks: target.checks } : undefined;
}
