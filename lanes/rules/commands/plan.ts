/** The pure decision on a command by a permitted person: what to do, or why not. */
import type { Actor } from '../../records/common.ts';
import type { IssueRecord } from '../../records/issues.ts';
import { liveStates, type Task } from '../../records/tasks.ts';
import { dispositionOf } from '../gate.ts';
import { planAccept } from './accept.ts';
import { findCriterion } from './find.ts';
import type { Command, Plan } from './types.ts';
import { type Giver, planVerdict } from './verdict.ts';

type TaskCommand = Exclude<Command, { verb: 'help' } | { verb: 'status' }>;

export interface CommandInput {
  /** The issue's latest task, ended or not; null where there is none. */
  readonly task: Task | null;
  readonly record: IssueRecord | null;
  readonly command: Command;
  /** A permitted person: the caller has asked at this moment. */
  readonly actor: Actor;
  readonly nowMs: number;
}

/** Decides about one command. Nothing is changed here; of several commands each is planned on the task as it is then. */
export function planCommand({ task, record, command, actor, nowMs }: CommandInput): Plan {
  if (command.verb === 'help') return { kind: 'answer', code: 'help' };
  const text = record?.decisions.at(-1)?.text;
  const last = text === undefined ? {} : { last: text };
  if (task === null) return { kind: 'answer', code: 'no_task', ...last };
  if (command.verb === 'status') return { kind: 'answer', code: 'status', ...last };
  if (!liveStates.includes(task.state)) return { kind: 'answer', code: 'ended', state: task.state };
  return planOn(task, command, { actor, nowMs });
}

/** The plan on a task that is not ended. */
function planOn(task: Task, command: TaskCommand, giver: Giver): Plan {
  switch (command.verb) {
    case 'cancel':
      return { kind: 'cancel' };
    case 'park':
      return planPark(task, command.why);
    case 'resume':
      return planResume(task, command.answer);
    case 'accept':
      return planAccept(task, giver);
    case 'open':
      return planOpen(task, command.id);
    default:
      return planVerdict(task, command, giver);
  }
}

function planPark(task: Task, why: string): Plan {
  const held = task.state === 'parked' && task.reason === 'held';
  return held ? { kind: 'answer', code: 'already_held' } : { kind: 'park', why };
}

function planResume(task: Task, answer: string | undefined): Plan {
  if (task.state !== 'parked') return { kind: 'answer', code: 'not_parked', state: task.state };
  return { kind: 'resume', ...(answer !== undefined && { answer }) };
}

function planOpen(task: Task, given: string): Plan {
  const found = findCriterion(task.criteria, given);
  if (!found.ok) return { kind: 'answer', ...found.answer };
  const { id } = found.criterion;
  if (dispositionOf(task.dispositions, id) === undefined) return { kind: 'answer', code: 'already_open', id };
  return { kind: 'open', id };
}
