/**
 * `issues.edited`: criteria are read again and matched, so that what was reworded or removed counts as open. A box that
 * a permitted person ticked is that person's attestation; a body that a permitted person completed lets a task go on.
 */
import {
  type Criterion,
  type Disposition,
  decideEdit,
  type IssueRecord,
  isLaneError,
  judgeReading,
  type Task,
  type Ticks,
} from '../../lanes/index.ts';
import { hashBody, type IssueSnapshot } from '../github/issue.ts';
import { noTicks, ticksOfEdit } from './desk/attest.ts';
import { asBodyReading, criteriaForTask, withReading } from './desk/criteria.ts';
import { lanesHere } from './desk/lanes.ts';
import type { BodyOutcome, Desk } from './desk/port.ts';
import {
  type Cause,
  decide,
  decisionOf,
  liveTask,
  recordOf,
  updateRecord,
  withDecision,
  withTitle,
} from './desk/records.ts';
import { actorOf, type IssuesPayload, refOf, senderOf } from './payload.ts';

type Verdicts = Record<string, Disposition | null>;

export async function onEdited(desk: Desk, payload: IssuesPayload, cause: Cause): Promise<void> {
  const ref = refOf(payload);
  const record = await recordOf(desk, ref);
  const task = await liveTask(desk, record);
  const ignore = (reason: 'no_task' | 'own_event' | 'body_unchanged' | 'gone'): Promise<void> =>
    decide(desk, ref, cause, { verdict: 'ignore', reason });
  if (record === null || task === null) return ignore('no_task');
  const sender = senderOf(payload, desk.app.slug);
  if (sender.ours) return ignore('own_event');
  const { title, body } = payload.changes;
  if (title === undefined && body === undefined) return ignore('body_unchanged');
  const permitted = !sender.bot && (await desk.github.permitted(ref, sender.login));
  if (title !== undefined && permitted) await approveTitle(desk, payload);
  if (body === undefined) return ignore('body_unchanged');
  const look = await desk.github.issue(ref);
  if (look.kind === 'gone') return ignore('gone');
  const outcome = await desk.readBody(look.issue.body);
  const ticks = permitted ? await ticksOf(desk, payload, record, outcome) : noTicks;
  await takeOver(desk, { payload, cause, record, task, issue: look.issue, permitted, outcome, ticks });
}

/** A run is given the title that a permitted person saw or wrote, as it is given no body that nobody approved. */
async function approveTitle(desk: Desk, payload: IssuesPayload): Promise<void> {
  const { title } = payload.issue;
  if (title === undefined) return;
  await updateRecord(desk, refOf(payload), (before) =>
    before.pointer === undefined || before.pointer.title === title ? null : withTitle(before, title),
  );
}

/** Which boxes this one edit ticked and unticked. */
async function ticksOf(
  desk: Desk,
  payload: IssuesPayload,
  record: IssueRecord,
  now: BodyOutcome,
): Promise<Ticks> {
  const from = payload.changes.body?.from;
  const to = payload.issue.body;
  if (typeof from !== 'string' || typeof to !== 'string') return noTicks;
  const [before, after] = [await desk.readBody(from), await desk.readBody(to)];
  return ticksOfEdit(record.criteria, { before, after, now });
}

interface Edit {
  readonly payload: IssuesPayload;
  readonly cause: Cause;
  readonly record: IssueRecord;
  readonly task: Task;
  readonly issue: IssueSnapshot;
  readonly permitted: boolean;
  readonly outcome: BodyOutcome;
  readonly ticks: Ticks;
}

async function takeOver(desk: Desk, edit: Edit): Promise<void> {
  const { payload, task, issue, outcome } = edit;
  const editedHash = hashBody(payload.issue.body);
  const decision = await decisionOn(desk, edit, editedHash);
  let verdicts: Verdicts = {};
  const record = await updateRecord(desk, issue.ref, (before) => {
    const matched = withReading(desk, before, outcome);
    verdicts = verdictsOf(desk, edit, matched.criteria, before);
    const { act, approves, reason } = decision;
    const verdict = act === 'resume' ? 'resume' : act === 'amend' ? 'note' : 'ignore';
    const noted = withDecision(matched, decisionOf(desk, edit.cause, { verdict, reason }));
    const dispositions = withVerdicts(noted.dispositions, verdicts);
    const next = { ...noted, dispositions, ...(approves ? { bodyHash: editedHash } : {}) };
    // Whoever lets a task go on has looked at the whole issue.
    return act === 'resume' ? withTitle(next, issue.title) : next;
  });
  if (decision.act === 'keep' && Object.keys(verdicts).length === 0) return;
  const criteria = criteriaForTask(record, task);
  const actor = edit.permitted ? actorOf(payload) : undefined;
  try {
    const caller = desk.caller(task.namespace);
    const amended = await desk.engine.amend(caller, task.namespace, task.id, {
      criteria,
      dispositions: verdicts,
      actor,
    });
    if (decision.act !== 'resume' || amended.state !== 'parked') return;
    const input = { actor, criteria, approvedBodyHash: editedHash };
    await desk.engine.resume(caller, task.namespace, task.id, input);
  } catch (error) {
    // It ended, or was resumed by somebody else, in between: there is nothing left to take over.
    if (!isLaneError(error, 'wrong_state')) throw error;
  }
}

async function decisionOn(desk: Desk, edit: Edit, editedHash: string) {
  const { task, issue, payload, record } = edit;
  const here = (await lanesHere(desk, issue.ref)).find((one) => one.lane.name === task.lane);
  const lane = here?.narrowed;
  const onNoCriteria = lane && lane !== 'unknown' ? lane.onNoCriteria : 'park';
  const approved = [task.approvedBodyHash, record.bodyHash];
  const from = payload.changes.body?.from;
  return decideEdit({
    state: task.state,
    reason: task.reason,
    permitted: edit.permitted,
    verdict: judgeReading(asBodyReading(edit.outcome), onNoCriteria),
    newest: issue.bodyHash === editedHash,
    fromApproved: approved.includes(hashBody(from)),
  });
}

/** A ticked box is `met` by that person; an unticked one takes a person's `met` back. */
function verdictsOf(desk: Desk, edit: Edit, criteria: readonly Criterion[], before: IssueRecord): Verdicts {
  const verdicts: Verdicts = {};
  const person = actorOf(edit.payload);
  for (const id of edit.ticks.ticked) {
    const criterion = criteria.find((one) => one.id === id);
    if (!criterion || criterion.removed) continue;
    verdicts[id] = {
      criterion: id,
      revision: criterion.revision,
      kind: 'met',
      by: { kind: 'person', person },
      evidence: [
        {
          evidence: { kind: 'statement', text: 'The box on the issue was ticked.' },
          standing: 'asserted',
          how: `ticked by @${person.login}`,
        },
      ],
      atMs: desk.now(),
    };
  }
  for (const id of edit.ticks.unticked) {
    const known = before.dispositions[id];
    if (known?.kind === 'met' && known.by.kind === 'person') verdicts[id] = null;
  }
  return verdicts;
}

function withVerdicts(dispositions: IssueRecord['dispositions'], verdicts: Verdicts) {
  const next = { ...dispositions };
  for (const [id, verdict] of Object.entries(verdicts)) {
    if (verdict === null) delete next[id];
    else next[id] = verdict;
  }
  return next;
}
