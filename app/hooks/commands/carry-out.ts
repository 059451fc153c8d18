/** Carrying out one command by a permitted person: planned by a rule on what is there now, then done. */
import {
  type Actor,
  type Dispositions,
  type IssueCheck,
  type IssueRef,
  isLaneError,
  type ParsedCommand,
  type Plan,
  planCommand,
  type Task,
} from '../../../lanes/index.ts';
import { criteriaForTask, withReading } from '../desk/criteria.ts';
import { cancelTask } from '../desk/ending.ts';
import type { Desk } from '../desk/port.ts';
import { type Cause, decide, liveTask, recordOf, updateRecord } from '../desk/records.ts';
import type { CommandOutcome } from './outcome.ts';

/** Who commands, on which issue, by which delivery. */
export interface CommandBy {
  readonly ref: IssueRef;
  readonly actor: Actor;
  readonly cause: Cause;
}

type Doing = Exclude<Plan, { kind: 'answer' }>;
const maxRounds = 3;

/** Plans and performs. Where the task moved in between, it is planned anew. */
export async function carryOut(desk: Desk, by: CommandBy, parsed: ParsedCommand): Promise<CommandOutcome> {
  if (!parsed.ok) return { kind: 'not_understood', parsed };
  const { line, command } = parsed;
  for (let round = 1; ; round += 1) {
    const record = await recordOf(desk, by.ref);
    const task = await liveTask(desk, record);
    const plan = planCommand({ task, record, command, actor: by.actor, nowMs: desk.now() });
    if (plan.kind === 'answer') {
      const { kind: _, ...answer } = plan;
      return { kind: 'answer', line, answer };
    }
    if (task === null) return { kind: 'answer', line, answer: { code: 'no_task' } };
    const failed = await failedCheck(desk, by.ref, plan);
    if (failed) return { kind: 'check_failed', line, check: failed };
    try {
      await perform(desk, by, task, plan);
      await writeDown(desk, by, plan, line);
      return { kind: 'done', line, plan };
    } catch (error) {
      if (!isLaneError(error, 'wrong_state') || round >= maxRounds) throw error;
    }
  }
}

/** The first issue that a verdict points at and that is not as it must be. */
async function failedCheck(desk: Desk, ref: IssueRef, plan: Doing): Promise<IssueCheck | undefined> {
  if (plan.kind !== 'dispose' && plan.kind !== 'accept') return undefined;
  for (const check of plan.checks) {
    const good = check.mustBeOpen
      ? await desk.github.openIssue(ref, check.issue)
      : (await desk.github.lookUp(ref, { kind: 'issue', number: check.issue })).found;
    if (!good) return check;
  }
  return undefined;
}

async function perform(desk: Desk, by: CommandBy, task: Task, plan: Doing): Promise<void> {
  const { actor, cause } = by;
  const caller = desk.caller(task.namespace);
  switch (plan.kind) {
    case 'resume':
      return resume(desk, by, task, plan.answer);
    case 'cancel':
      return cancelTask(desk, task, { reason: 'cancelled_by_command', actor, cause });
    case 'park': {
      const input = { reason: 'held', detail: plan.why, actor } as const;
      await desk.engine.park(caller, task.namespace, task.id, input);
      return;
    }
    case 'open':
      await keepVerdicts(desk, by.ref, {}, plan.id);
      await desk.engine.amend(caller, task.namespace, task.id, { dispositions: { [plan.id]: null }, actor });
      return;
    case 'dispose':
    case 'accept': {
      await keepVerdicts(desk, by.ref, plan.dispositions);
      const proposals = plan.kind === 'accept' ? { proposals: plan.left } : {};
      const input = { dispositions: plan.dispositions, ...proposals, actor };
      await desk.engine.amend(caller, task.namespace, task.id, input);
    }
  }
}

/** People's verdicts outlive their task. */
async function keepVerdicts(desk: Desk, ref: IssueRef, set: Dispositions, taken?: string): Promise<void> {
  await updateRecord(desk, ref, (before) => {
    const dispositions = { ...before.dispositions, ...set };
    if (taken !== undefined) delete dispositions[taken];
    return { ...before, dispositions };
  });
}

/** Whoever resumes approves the issue as it is now: its body and its criteria are read anew. */
async function resume(desk: Desk, by: CommandBy, task: Task, answer: string | undefined): Promise<void> {
  const look = await desk.github.issue(by.ref);
  if (look.kind === 'gone') return cancelTask(desk, task, { reason: 'issue_gone', cause: by.cause });
  const { body, bodyHash } = look.issue;
  const outcome = await desk.readBody(body);
  const record = await updateRecord(desk, by.ref, (before) => ({
    ...withReading(desk, before, outcome),
    bodyHash,
  }));
  await desk.engine.resume(desk.caller(task.namespace), task.namespace, task.id, {
    actor: by.actor,
    answer,
    criteria: criteriaForTask(record, task),
    approvedBodyHash: bodyHash,
  });
}

async function writeDown(desk: Desk, by: CommandBy, plan: Doing, line: string): Promise<void> {
  // A cancel was written down with the ending of its task.
  if (plan.kind === 'cancel') return;
  const verdict = plan.kind === 'resume' || plan.kind === 'park' ? plan.kind : 'note';
  const text = `@${by.actor.login}: ${line.slice(0, 500)}`;
  await decide(desk, by.ref, by.cause, { verdict, reason: 'command', text });
}
