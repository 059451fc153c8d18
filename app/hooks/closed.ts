/**
 * `issues.closed`: ours is the end of our own work. A permitted person's close by hand is respected. Anybody else's, and
 * a merge's, is undone once while criteria are open.
 */
import { decideClose, gate, githubNamespace, type Task } from '../../lanes/index.ts';
import type { IssueSnapshot } from '../github/issue.ts';
import { cancelTask } from './desk/ending.ts';
import type { Desk } from './desk/port.ts';
import {
  type Cause,
  decide,
  decisionOf,
  liveTask,
  recordOf,
  updateRecord,
  withDecision,
} from './desk/records.ts';
import { closedAgainText, closedByHandText, reopenedText } from './desk/texts.ts';
import { actorOf, type IssuesPayload, refOf, senderOf } from './payload.ts';

export async function onClosed(desk: Desk, payload: IssuesPayload, cause: Cause): Promise<void> {
  const ref = refOf(payload);
  const sender = senderOf(payload, desk.app.slug);
  const record = await recordOf(desk, ref);
  const task = sender.ours ? null : await liveTask(desk, record);
  if (task === null) {
    const reason = sender.ours ? 'own_event' : 'no_task';
    return decide(desk, ref, cause, { verdict: 'ignore', reason });
  }
  const look = await desk.github.issue(ref);
  if (look.kind === 'gone') return cancelTask(desk, task, { reason: 'issue_gone', cause });
  const closedAt = look.issue.closedAt ?? payload.issue.closed_at ?? 'unknown';
  const answer = gate(task);
  const decision = decideClose({
    ours: false,
    open: look.issue.open,
    state: task.state,
    byPermittedHand: !sender.bot && (await closedByPermittedHand(desk, look.issue, sender.login)),
    gateCloses: answer.close,
    reopenedFor: record?.reopenedFor,
    closedAt,
  });
  if (decision.kind === 'ignore') {
    return decide(desk, ref, cause, { verdict: 'ignore', reason: decision.reason });
  }
  if (decision.kind === 'reopen') return undo(desk, look.issue, task, closedAt, cause);
  const actor = actorOf(payload);
  await say(
    desk,
    task,
    decision.reason === 'closed_by_person' ? closedByHandText(task) : closedAgainText(task),
  );
  await cancelTask(desk, task, { reason: decision.reason, actor, cause });
}

/** By hand: not by a merge or a commit, which nobody may have looked at with the criteria in mind. */
async function closedByPermittedHand(desk: Desk, issue: IssueSnapshot, login: string): Promise<boolean> {
  if (!(await desk.github.permitted(issue.ref, login))) return false;
  const closing = await desk.github.lastClosing(issue.ref);
  return closing === null || !closing.byMerge;
}

/** Reopens once, and remembers for which close. */
async function undo(
  desk: Desk,
  issue: IssueSnapshot,
  task: Task,
  closedAt: string,
  cause: Cause,
): Promise<void> {
  const reason = 'closed_with_criteria_open';
  await updateRecord(desk, issue.ref, (before) => ({
    ...withDecision(before, decisionOf(desk, cause, { verdict: 'note', reason })),
    reopenedFor: closedAt,
  }));
  await desk.engine.loose.add(desk.caller(githubNamespace), {
    kind: 'reopen',
    key: `reopen:${task.id}:${closedAt}`,
    issue: issue.ref,
    body: reopenedText(task),
  });
}

async function say(desk: Desk, task: Task, body: string): Promise<void> {
  await desk.engine.loose.add(desk.caller(githubNamespace), {
    kind: 'comment',
    key: `closed:${task.id}`,
    issue: task.issue,
    body,
  });
}
