/**
 * The App's side of the host port: what a worker asks before it works. "Still allowed?" looks at everything anew - the
 * lease, the issue, the label, who approved, what was approved - and answers with all that a run may know. Where the
 * answer is no, the App has parked or cancelled the task by then.
 */
import {
  type IntakeReason,
  isLaneError,
  judgeReading,
  type Lane,
  LaneError,
  type Lease,
  type ParkReason,
  type RunInput,
  sameLabel,
  senderCounts,
  sentenceOf,
  stripHidden,
  type Task,
} from '../../lanes/index.ts';
import { bindingOf } from '../hooks/desk/binding.ts';
import { asBodyReading, criteriaForTask, sameCriteria, withReading } from '../hooks/desk/criteria.ts';
import { cancelTask } from '../hooks/desk/ending.ts';
import { type LaneHere, labelOf, lanesHere } from '../hooks/desk/lanes.ts';
import type { Desk } from '../hooks/desk/port.ts';
import { addReaction, decide, recordOf, updateRecord } from '../hooks/desk/records.ts';
import type { EvidenceAnswer, EvidenceQuery } from './evidence.ts';
import type { IssueSnapshot } from './issue.ts';

export type Allowed =
  | { readonly allowed: true; readonly input: RunInput }
  | { readonly allowed: false; readonly why: string };

/** As `Allowed`, without what the run clones with. */
export type MayBegin =
  | { readonly allowed: true; readonly input: Omit<RunInput, 'clone'> }
  | { readonly allowed: false; readonly why: string };

export interface AppHostPort {
  allowed(lease: Lease): Promise<Allowed>;
  /** The same question; no token is minted for the answer. */
  mayBegin(lease: Lease): Promise<MayBegin>;
  /** What the run clones with, minted for it. @throws LaneError `lease_lost` where the lease does not hold. */
  checkout(lease: Lease): Promise<RunInput['clone']>;
  lookUp(lease: Lease, query: EvidenceQuery): Promise<EvidenceAnswer>;
}

const cause = { source: 'claim', event: 'still_allowed' } as const;

type Verdict =
  | { readonly kind: 'go' }
  | { readonly kind: 'cancel'; readonly reason: IntakeReason }
  | { readonly kind: 'park'; readonly reason: ParkReason; readonly detail: string };

/**
 * The task, if this lease is the one that holds it, and the title that was approved. Which issue it is about is asked
 * of the App's own pointer: a worker can write another one into its record, and would be given that repository.
 */
async function heldTask(desk: Desk, lease: Lease): Promise<{ task: Task; title: string } | null> {
  const task = await desk.engine.get(desk.caller(lease.namespace), lease.namespace, lease.task);
  const held = task?.lease;
  if (!task || !held || task.state !== 'running') return null;
  const keys = ['id', 'fence', 'run', 'worker', 'epoch'] as const;
  if (!keys.every((key) => held[key] === lease[key])) return null;
  const record = await bindingOf(desk, lease.namespace, task);
  if (record?.pointer === undefined) return null;
  return { task: { ...task, issue: record.issue }, title: record.pointer.title };
}

/** What a fresh look says before the body is read. */
function ofIssue(issue: IssueSnapshot, here: LaneHere | undefined): Verdict {
  if (!here || here.narrowed === null) return { kind: 'cancel', reason: 'lane_off' };
  if (!issue.open) return { kind: 'cancel', reason: 'issue_closed' };
  if (!issue.labels.some((name) => sameLabel(name, labelOf(here)))) {
    return { kind: 'cancel', reason: 'label_removed' };
  }
  if (issue.locked) return { kind: 'park', reason: 'not_writable', detail: 'The issue is locked.' };
  if (here.narrowed === 'unknown') {
    return { kind: 'park', reason: 'held', detail: sentenceOf('repository_file_broken') };
  }
  return { kind: 'go' };
}

async function approverPermitted(desk: Desk, task: Task, lane: Lane, issue: IssueSnapshot): Promise<boolean> {
  const { login } = task.approvedBy;
  if (/\[bot\]$/.test(login)) return senderCounts({ login, bot: true, ours: false }, lane.allowBots);
  return desk.github.permitted(issue.ref, login);
}

/** Ends or parks the task as the verdict says, and tells the worker why. */
async function refuse(desk: Desk, task: Task, verdict: Exclude<Verdict, { kind: 'go' }>): Promise<Allowed> {
  if (verdict.kind === 'cancel') {
    await cancelTask(desk, task, { reason: verdict.reason, cause });
    return { allowed: false, why: verdict.reason };
  }
  const { reason, detail } = verdict;
  try {
    const caller = desk.caller(task.namespace);
    await desk.engine.park(caller, task.namespace, task.id, { reason, detail });
  } catch (error) {
    if (!isLaneError(error, 'wrong_state')) throw error;
  }
  await decide(desk, task.issue, cause, {
    verdict: 'park',
    reason: 'parked_at_claim',
    text: `${sentenceOf('parked_at_claim')} (${reason})`,
  });
  return { allowed: false, why: reason };
}

/** Reads the body anew: is it the approved one, and what does it ask for? Criteria are taken over. */
async function ofBody(desk: Desk, task: Task, lane: Lane, issue: IssueSnapshot) {
  const before = await recordOf(desk, issue.ref);
  const approved = [task.approvedBodyHash, before?.bodyHash];
  if (!approved.includes(issue.bodyHash)) {
    const detail =
      'The body is not the one that was approved, and no permitted person is known to have edited it.';
    return { verdict: { kind: 'park', reason: 'edited_after_approval', detail } as const, criteria: [] };
  }
  const outcome = await desk.readBody(issue.body);
  const record = await updateRecord(desk, issue.ref, (known) => {
    const matched = withReading(desk, known, outcome);
    return sameCriteria(matched.criteria, known.criteria) ? null : matched;
  });
  const criteria = criteriaForTask(record, task);
  const judged = judgeReading(asBodyReading(outcome), lane.onNoCriteria);
  if (judged.kind === 'usable' && !sameCriteria(criteria, task.criteria)) {
    await desk.engine.amend(desk.caller(task.namespace), task.namespace, task.id, { criteria });
  }
  return { verdict: judged.kind === 'usable' ? ({ kind: 'go' } as const) : judged, criteria };
}

async function commentsFor(desk: Desk, task: Task, issue: IssueSnapshot): Promise<RunInput['comments']> {
  if (issue.comments === 0) return [];
  const permitted = (login: string): Promise<boolean> =>
    login === task.approvedBy.login ? Promise.resolve(true) : desk.github.permitted(issue.ref, login);
  const comments = await desk.github.permittedComments(issue.ref, permitted);
  return comments.map(({ login, body, atMs }) => ({ by: login, body: stripHidden(body).text, atMs }));
}

async function inputOf(
  desk: Desk,
  { task, title: approved }: { readonly task: Task; readonly title: string },
  here: LaneHere,
  issue: IssueSnapshot,
  criteria: RunInput['criteria'],
): Promise<Omit<RunInput, 'clone'>> {
  const title = stripHidden(approved);
  const body = stripHidden(issue.body);
  return {
    issue: issue.ref,
    url: issue.url,
    title: title.text,
    body: body.text,
    author: issue.author,
    labels: [...issue.labels],
    comments: await commentsFor(desk, task, issue),
    stripped: [...new Set([...title.stripped, ...body.stripped])],
    criteria,
    ...(here.instructions === undefined ? {} : { instructions: here.instructions }),
    proves: Object.fromEntries(Object.entries(here.proves).map(([check, names]) => [check, [...names]])),
  };
}

/** Looks at everything anew. */
async function mayBegin(desk: Desk, lease: Lease): Promise<MayBegin> {
  const held = await heldTask(desk, lease);
  if (held === null) return { allowed: false, why: 'lease_lost' };
  const { task } = held;
  const look = await desk.github.issue(task.issue);
  if (look.kind === 'gone') return refuse(desk, task, { kind: 'cancel', reason: 'issue_gone' });
  const { issue } = look;
  const here = (await lanesHere(desk, issue.ref)).find((one) => one.lane.name === task.lane);
  const first = ofIssue(issue, here);
  if (first.kind !== 'go') return refuse(desk, task, first);
  const lane = here?.narrowed;
  if (!here || !lane || lane === 'unknown') return refuse(desk, task, { kind: 'cancel', reason: 'lane_off' });
  if (!(await approverPermitted(desk, task, lane, issue))) {
    await addReaction(desk, issue.ref, 'confused', `approver:${task.id}`);
    return refuse(desk, task, { kind: 'cancel', reason: 'approver_not_permitted' });
  }
  const { verdict, criteria } = await ofBody(desk, task, lane, issue);
  if (verdict.kind !== 'go') return refuse(desk, task, verdict);
  return { allowed: true, input: await inputOf(desk, held, here, issue, criteria) };
}

/** The App's side of the host port. */
export function makeHostPort(desk: Desk): AppHostPort {
  return {
    mayBegin: (lease) => mayBegin(desk, lease),
    async allowed(lease) {
      const answer = await mayBegin(desk, lease);
      if (!answer.allowed) return answer;
      const clone = await desk.github.cloneAccess(answer.input.issue);
      return { allowed: true, input: { ...answer.input, clone } };
    },
    async checkout(lease) {
      const held = await heldTask(desk, lease);
      if (held === null) throw new LaneError('lease_lost', lease.task);
      return desk.github.cloneAccess(held.task.issue);
    },
    async lookUp(lease, query) {
      const held = await heldTask(desk, lease);
      if (held === null)
        return { found: false, how: 'The lease of this run is lost; nothing was looked up.' };
      return desk.github.lookUp(held.task.issue, query);
    },
  };
}
