/**
 * A label was set: look, decide, bind the issue to a task, create the task. Whoever told of it, a webhook or the scan,
 * the way is the same. The pointer is bound before the task is made and holds the whole admission, so that a stop
 * between any two steps is repaired from it.
 */
import {
  type Actor,
  type Intake,
  type IntakeReason,
  type IssueRecord,
  type IssueRef,
  intake,
  type Lane,
  type NewTask,
  type Sender,
  sameLabel,
  screen,
  sentenceOf,
} from '../../../lanes/index.ts';
import type { IssueSnapshot } from '../../github/issue.ts';
import { asBodyReading, criteriaForNewTask, fittingDispositions, withReading } from './criteria.ts';
import { type LaneHere, labelOf, laneForLabel, sayBrokenFile } from './lanes.ts';
import type { BodyOutcome, Desk } from './port.ts';
import {
  addReaction,
  type Cause,
  decide,
  decisionOf,
  finishAdmission,
  liveTask,
  recordOf,
  updateRecord,
  withDecision,
} from './records.ts';

/** A label that was set on an issue. */
export interface LabelSet {
  readonly ref: IssueRef;
  readonly label: string;
  readonly sender: Sender & { readonly id: number };
  readonly cause: Cause;
  readonly pullRequest: boolean;
  readonly archived: boolean;
  /** Whether the issue was open when the label was set, where the event told it. */
  readonly wasOpen?: boolean;
  /** The title when the label was set, where the event told it. */
  readonly title?: string | undefined;
  /** The hash of the body when the label was set, where the event told it. */
  readonly bodyHash?: string | undefined;
}

/** Stands for a readable body while it does not matter yet what is in it. */
const readable = { kind: 'read', criteria: 1, placeholders: [], fallbackTasklist: [] } as const;
const maxRounds = 5;

interface Looked {
  readonly set: LabelSet;
  readonly here: LaneHere;
  readonly issue: IssueSnapshot;
  readonly permitted: boolean;
}

/** Handles a label that was set. The same label told twice makes one task. */
export async function labelSet(desk: Desk, set: LabelSet): Promise<Intake> {
  const here = await laneForLabel(desk, set.ref, set.label);
  const screened = screen(screenInput(desk, set, here));
  if (screened || here === null) {
    const decision = screened ?? ({ kind: 'ignore', reason: 'not_a_lane' } as const);
    await decide(desk, set.ref, set.cause, { verdict: decision.kind, reason: decision.reason });
    return decision;
  }
  const look = await desk.github.issue(set.ref);
  if (look.kind === 'gone') {
    await decide(desk, set.ref, set.cause, { verdict: 'ignore', reason: 'gone' });
    return { kind: 'ignore', reason: 'gone' };
  }
  const { issue } = look;
  const permitted = !set.sender.bot && (await desk.github.permitted(issue.ref, set.sender.login));
  return settleLabel(desk, { set: { ...set, ref: issue.ref }, here, issue, permitted });
}

function screenInput(desk: Desk, set: LabelSet, here: LaneHere | null) {
  const { sender, pullRequest, archived } = set;
  const repository = { listed: desk.listed(set.ref.repository), archived };
  return { sender, lane: here?.lane ?? null, pullRequest, repository };
}

/** Decides and binds. Where another event was faster, it is decided again on what that one left. */
async function settleLabel(desk: Desk, looked: Looked): Promise<Intake> {
  const { set, here, issue } = looked;
  let outcome: BodyOutcome | undefined;
  for (let round = 0; round < maxRounds; round += 1) {
    const record = await recordOf(desk, set.ref);
    const live = await liveTask(desk, record);
    const input = {
      ...screenInput(desk, set, here),
      permitted: looked.permitted,
      narrowed: here.narrowed,
      issue: { ...issue, labelSet: issue.labels.some((name) => sameLabel(name, labelOf(here))) },
      live: live?.lane ?? null,
      toldLate: set.wasOpen === true && record?.labelsSeen?.[here.lane.name] !== undefined,
    };
    let decision = intake({ ...input, reading: readable });
    if (decision.kind === 'ignore' || decision.kind === 'refuse') {
      await turnAway(desk, looked, decision);
      return decision;
    }
    outcome ??= await desk.readBody(issue.body);
    decision = intake({ ...input, reading: asBodyReading(outcome) });
    const admission = await bind(desk, looked, decision, outcome, record?.pointer?.id);
    if (admission === null) continue;
    await finishAdmission(desk, admission);
    await sayBrokenFile(desk, set.ref);
    return decision;
  }
  throw new Error(`#${set.ref.number}: the issue record kept changing`);
}

/** Refused visibly, or ignored; either way with its reason. */
async function turnAway(
  desk: Desk,
  { set, here, issue }: Looked,
  decision: { readonly kind: 'ignore' | 'refuse'; readonly reason: IntakeReason },
): Promise<void> {
  const verdict = { verdict: decision.kind, reason: decision.reason } as const;
  if (decision.kind === 'ignore' && decision.reason !== 'duplicate') {
    return decide(desk, set.ref, set.cause, verdict);
  }
  const lane = here.lane.name;
  await updateRecord(desk, set.ref, (record) => {
    const noted = withDecision(record, decisionOf(desk, set.cause, verdict));
    // These two end by themselves: the label is looked at again then, so it does not count as decided about.
    if (decision.reason === 'repository_file_broken') return noted;
    if (decision.reason === 'issue_busy') {
      return record.waiting.includes(lane) ? noted : { ...noted, waiting: [...noted.waiting, lane] };
    }
    return { ...noted, labelsSeen: { ...noted.labelsSeen, [lane]: issue.updatedAt } };
  });
  if (decision.kind !== 'refuse') return;
  await addReaction(desk, set.ref, 'confused', `${lane}:${issue.updatedAt}`);
  if (decision.reason === 'repository_file_broken') await sayBrokenFile(desk, set.ref);
}

/** Binds the issue to a new task, or returns null where the pointer is not the one that was decided on. */
async function bind(
  desk: Desk,
  looked: Looked,
  decision: Intake,
  outcome: BodyOutcome,
  seenPointer: string | undefined,
): Promise<NewTask | null> {
  const { set, here } = looked;
  const lane = here.narrowed;
  if (lane === null || lane === 'unknown') return null;
  const id = desk.id();
  const record = await updateRecord(desk, set.ref, (before) => {
    if (before.pointer?.id !== seenPointer) return null;
    const matched = withReading(desk, { ...before, issue: set.ref }, outcome);
    return bound(desk, looked, decision, matched, newTask(looked, lane, id, decision, matched));
  });
  return record.pointer?.id === id ? record.pointer : null;
}

function newTask(looked: Looked, lane: Lane, id: string, decision: Intake, record: IssueRecord): NewTask {
  const { set, issue } = looked;
  const approvedBy: Actor = { login: set.sender.login, id: set.sender.id };
  const criteria = criteriaForNewTask(record);
  return {
    id,
    namespace: lane.namespace,
    lane: lane.name,
    issue: set.ref,
    title: set.title ?? issue.title,
    approvedBy,
    approvedBodyHash: set.bodyHash ?? issue.bodyHash,
    criteria,
    dispositions: fittingDispositions(record, criteria),
    proof: lane.proof,
    maxRuns: lane.maxRuns,
    ...(decision.kind === 'park' ? { parked: { reason: decision.reason, detail: decision.detail } } : {}),
  };
}

function bound(
  desk: Desk,
  { set, here, issue }: Looked,
  decision: Intake,
  record: IssueRecord,
  pointer: NewTask,
): IssueRecord {
  const { reopenedFor: _, ...rest } = record;
  const lane = here.lane.name;
  const verdict =
    decision.kind === 'park'
      ? ({
          verdict: 'park',
          reason: 'admitted_parked',
          text: `${sentenceOf('admitted_parked')} (${decision.reason})`,
        } as const)
      : ({ verdict: 'admit', reason: 'admitted' } as const);
  return withDecision(
    {
      ...rest,
      pointer,
      latest: { namespace: pointer.namespace, task: pointer.id },
      waiting: rest.waiting.filter((name) => name !== lane),
      bodyHash: pointer.approvedBodyHash,
      labelsSeen: { ...rest.labelsSeen, [lane]: issue.updatedAt },
    },
    decisionOf(desk, set.cause, verdict),
  );
}
