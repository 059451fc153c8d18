/** Carrying out one command by a permitted person: planned by a rule on what is there now, then done. */
import {
  type Actor,
  type Dispositions,
  type IssueRef,
  isLaneError,
  type ParsedCommand,
  type Plan,
  planCommand,
  type Task,
} from '../../../lanes/index.ts';
import type { Outcome } from '../../broker/note/index.ts';
import { criteriaForTask, withReading } from '../desk/criteria.ts';
import { cancelTask } from '../desk/ending.ts';
import type { Desk } from '../desk/port.ts';
import { type Cause, decide, liveTask, recordOf, updateRecord, withTitle } from '../desk/records.ts';

/** Who commands, on which issue, by which delivery. */
export interface CommandBy {
  readonly ref: IssueRef;
  readonly actor: Actor;
  readonly cause: Cause;
}

type Doing = Exclude<Plan, { kind: 'answer' }>;
const maxRounds = 3;

/**
 * Plans and performs. Where the task moved in between, it is planned anew. Answers with what to say of it; null where
 * the task's own note says it.
 */
export async function carryOut(desk: Desk, by: CommandBy, parsed: ParsedCommand): Promise<Outcome | null> {
  if (!parsed.ok) {
    const { ok: _, ...problem } = parsed;
    return { code: 'problem', ...problem };
  }
  const { line, command } = parsed;
  for (let round = 0; round < maxRounds; round += 1) {
    const record = await recordOf(desk, by.ref);
    const task = await liveTask(desk, record);
    const plan = planCommand({ task, record, command, actor: by.actor, nowMs: desk.now() });
    if (plan.kind === 'answer') {
      const { kind: _, ...answer } = plan;
      return answer;
    }
    if (task === null) return { code: 'no_task' };
    const failed = await failedCheck(desk, by.ref, plan);
    if (failed) return failed;
    try {
      await perform(desk, by, task, plan);
      await writeDown(desk, by, plan, line);
      return outcomeOf(plan);
    } catch (error) {
      if (!isLaneError(error, 'wrong_state')) throw error;
    }
  }
  return { code: 'changed_meanwhile' };
}

function outcomeOf(plan: Doing): Outcome | null {
  switch (plan.kind) {
    case 'park':
    case 'resume':
      return null;
    case 'cancel':
      return { code: 'cancelled' };
    case 'open':
      return { code: 'opened', id: plan.id };
    default: {
      const left = plan.kind === 'accept' ? plan.left.length : 0;
      return { code: 'set', dispositions: Object.values(plan.dispositions), left };
    }
  }
}

/** What to say where an issue that a verdict points at is not as it must be. */
async function failedCheck(desk: Desk, ref: IssueRef, plan: Doing): Promise<Outcome | null> {
  if (plan.kind !== 'dispose' && plan.kind !== 'accept') return null;
  for (const { issue, mustBeOpen } of plan.checks) {
    if (mustBeOpen && (await desk.github.openIssue(ref, issue))) continue;
    const { found } = await desk.github.lookUp(ref, { kind: 'issue', number: issue });
    if (!found) return { code: 'target_missing', issue };
    if (mustBeOpen) return { code: 'target_closed', issue };
  }
  return null;
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

/** Whoever resumes approves the issue as it is now: its title, its body and its criteria are read anew. */
async function resume(desk: Desk, by: CommandBy, task: Task, answer: string | undefined): Promise<void> {
  const look = await desk.github.issue(by.ref);
  if (look.kind === 'gone') return cancelTask(desk, task, { reason: 'issue_gone', cause: by.cause });
  const { title, body, bodyHash } = look.issue;
  const outcome = await desk.readBody(body);
  const record = await updateRecord(desk, by.ref, (before) => ({
    ...withTitle(withReading(desk, before, outcome), title),
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
