/** A verdict by a person on one criterion. */
import type { Actor } from '../../records/common.ts';
import type { Criterion } from '../../records/criteria.ts';
import type { Disposition, DispositionKind } from '../../records/dispositions.ts';
import type { Task } from '../../records/tasks.ts';
import { findCriterion } from './find.ts';
import type { Command, CommandAnswer, IssueCheck, Plan } from './types.ts';

type VerdictCommand = Extract<
  Command,
  { verb: 'met' | 'waive' | 'na' | 'withdraw' | 'moved' | 'superseded' }
>;

/** Who gives a verdict, and when. */
export interface Giver {
  readonly actor: Actor;
  readonly nowMs: number;
}

const kinds: Readonly<Record<VerdictCommand['verb'], DispositionKind>> = {
  met: 'met',
  waive: 'waived',
  na: 'not_applicable',
  withdraw: 'withdrawn',
  moved: 'moved',
  superseded: 'superseded',
};

const issueNumber = /^#([1-9]\d{0,9})$/;

/** The plan for one verdict: it is given on the criterion as it reads now. */
export function planVerdict(task: Task, command: VerdictCommand, giver: Giver): Plan {
  const found = findCriterion(task.criteria, command.id);
  if (!found.ok) return { kind: 'answer', ...found.answer };
  const { criterion } = found;
  const verdict = verdictBy(giver, criterion, kinds[command.verb]);
  if (command.verb === 'met') {
    const how = `said by ${giver.actor.login}`;
    const evidence = command.evidence.map((one) => ({ evidence: one, standing: 'asserted' as const, how }));
    return dispose({ ...verdict, evidence });
  }
  if (command.verb === 'moved' || command.verb === 'superseded') {
    const reason = command.why === undefined ? {} : { reason: command.why };
    const by = command.verb === 'moved' ? `#${command.issue}` : command.by;
    return withTarget(task, { ...verdict, ...reason }, by);
  }
  return dispose({ ...verdict, reason: command.why });
}

/** A disposition by a person, without evidence yet. */
export function verdictBy({ actor, nowMs }: Giver, criterion: Criterion, kind: DispositionKind): Disposition {
  return {
    criterion: criterion.id,
    revision: criterion.revision,
    kind,
    by: { kind: 'person', person: actor },
    evidence: [],
    atMs: nowMs,
  };
}

function withTarget(task: Task, verdict: Disposition, given: string): Plan {
  const target = targetOf(task, verdict, given);
  if (!target.ok) return { kind: 'answer', ...target.answer };
  return dispose({ ...verdict, target: target.target }, target.checks);
}

type Target =
  | { readonly ok: true; readonly target: string; readonly checks: readonly IssueCheck[] }
  | { readonly ok: false; readonly answer: CommandAnswer };

/** What `moved` or `superseded` points at: another issue of this repository, or, for `superseded`, another criterion. */
export function targetOf(task: Task, { criterion: id, kind }: Disposition, given: string): Target {
  const number = issueNumber.exec(given)?.[1];
  if (number !== undefined) {
    const issue = Number(number);
    if (issue === task.issue.number) return { ok: false, answer: { code: 'same_issue', id } };
    const check = { criterion: id, issue, mustBeOpen: kind === 'moved' };
    return { ok: true, target: `#${issue}`, checks: [check] };
  }
  const other = findCriterion(task.criteria, given);
  if (!other.ok) return { ok: false, answer: other.answer };
  if (other.criterion.id === id) return { ok: false, answer: { code: 'same_criterion', id } };
  return { ok: true, target: other.criterion.id, checks: [] };
}

function dispose(disposition: Disposition, checks: readonly IssueCheck[] = []): Plan {
  return { kind: 'dispose', dispositions: { [disposition.criterion]: disposition }, checks };
}
