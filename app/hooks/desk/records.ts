/** The issue record: what was decided about an issue and why, and which task is live for it. */
import {
  type Decision,
  githubNamespace,
  type IntakeReason,
  type IssueRecord,
  type IssueRef,
  intakeNamespace,
  isLaneError,
  liveStates,
  type NewTask,
  sentenceOf,
  type Task,
} from '../../../lanes/index.ts';
import type { Desk } from './port.ts';

const keptDecisions = 50;

/** What caused a decision: the delivery's GUID, or `scan`, `keeper`, `claim`, `broker`; and the event. */
export interface Cause {
  readonly source: string;
  readonly event: string;
}

/** A decision as it is written down. `text` defaults to the reason's own sentence. */
export interface Deciding {
  readonly verdict: Decision['verdict'];
  readonly reason: IntakeReason;
  readonly text?: string | undefined;
}

/** The decision as the record keeps it. */
export function decisionOf(desk: Pick<Desk, 'now'>, cause: Cause, deciding: Deciding): Decision {
  return {
    atMs: desk.now(),
    source: cause.source,
    event: cause.event,
    verdict: deciding.verdict,
    reason: deciding.reason,
    text: (deciding.text ?? sentenceOf(deciding.reason)).slice(0, 2_000),
  };
}

/** Verdicts that change nothing: anybody can bring them about, as often as they like. */
const idle: ReadonlySet<Decision['verdict']> = new Set(['ignore', 'refuse', 'note']);

/**
 * The record with one more decision. The same delivery told twice is written down once. What changed nothing is kept
 * once as well, the newest of its kind: else a stranger could push out of the list what was decided about the issue.
 */
export function withDecision(record: IssueRecord, decision: Decision): IssueRecord {
  const again = record.decisions.some(
    (one) =>
      one.source === decision.source &&
      one.event === decision.event &&
      one.reason === decision.reason &&
      one.text === decision.text,
  );
  if (again) return record;
  const kept = record.decisions.filter((one) => !idle.has(one.verdict) || !sameKind(one, decision));
  return { ...record, decisions: [...kept, decision].slice(-keptDecisions) };
}

function sameKind(one: Decision, other: Decision): boolean {
  const parts = ['verdict', 'event', 'reason', 'text'] as const;
  return parts.every((part) => one[part] === other[part]);
}

/** Reads the record of an issue, or null where nothing is kept of it. */
export function recordOf(desk: Desk, ref: IssueRef): Promise<IssueRecord | null> {
  return desk.engine.issues.get(desk.caller(intakeNamespace), ref.repositoryId, ref.number);
}

/** The record with another title approved. */
export function withTitle(record: IssueRecord, title: string): IssueRecord {
  return record.pointer === undefined ? record : { ...record, pointer: { ...record.pointer, title } };
}

/** Changes the record by compare-and-set. */
export function updateRecord(
  desk: Desk,
  ref: IssueRef,
  change: (record: IssueRecord) => IssueRecord | null,
): Promise<IssueRecord> {
  return desk.engine.issues.update(desk.caller(intakeNamespace), ref, change);
}

/**
 * Writes a decision down. An issue that nothing is kept of gets no record for being ignored: else every label and every
 * comment of a repository would.
 */
export async function decide(desk: Desk, ref: IssueRef, cause: Cause, deciding: Deciding): Promise<void> {
  if (deciding.verdict === 'ignore' && (await recordOf(desk, ref)) === null) return;
  await updateRecord(desk, ref, (record) => {
    const changed = withDecision(record, decisionOf(desk, cause, deciding));
    return changed === record ? null : changed;
  });
}

/**
 * Ends an admission that stopped half-way, from the pointer that holds it whole: first the reaction, then the task, so
 * that a missing task means that both may be missing. Repeating either changes nothing.
 */
export async function finishAdmission(desk: Desk, admission: NewTask): Promise<Task> {
  await addReaction(desk, admission.issue, 'eyes', admission.id);
  return desk.engine.admit(desk.caller(admission.namespace), admission);
}

/** Orders a reaction on the issue, or on one of its comments. `once` names the occasion. */
export async function addReaction(
  desk: Desk,
  issue: IssueRef,
  content: 'eyes' | 'confused',
  once: string,
  comment?: number,
): Promise<void> {
  await desk.engine.loose.add(desk.caller(githubNamespace), {
    kind: 'reaction',
    key: `reaction:${issue.repositoryId}:${issue.number}:${content}:${once}`,
    issue,
    content,
    ...(comment === undefined ? {} : { comment }),
  });
}

/**
 * The live task that the record points at, or null. A pointer whose task was never made is an admission that stopped
 * half-way: it is ended now. A lane that the operator took out has no live task.
 */
export async function liveTask(desk: Desk, record: IssueRecord | null): Promise<Task | null> {
  const pointer = record?.pointer;
  if (!pointer) return null;
  try {
    const found = await desk.engine.get(desk.caller(pointer.namespace), pointer.namespace, pointer.id);
    const task = found ?? (await finishAdmission(desk, pointer));
    // Which issue it is about is the App's own word: a worker can write what it likes into its namespace.
    return liveStates.includes(task.state) ? { ...task, issue: record.issue } : null;
  } catch (error) {
    if (isLaneError(error, 'unknown_namespace')) return null;
    throw error;
  }
}
