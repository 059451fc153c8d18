/** The task record in Redis: `head`, what scripts compare and change, and `doc`, the rest. */
import { LaneError } from '../errors.ts';
import type { Lease } from '../records/runs.ts';
import { type Task, taskSchema } from '../records/tasks.ts';

/**
 * The task hash. `head` has what scripts compare and change, a line each; `doc` is JSON with the rest, which they pass on;
 * `epoch` is the store's stamp; `leaseEndsAtMs` and `progress` are written by renewals alone. So few fields and not one for
 * each scalar: a hash of many fields next to a long one costs Redis several times as much.
 */
export const taskFields = ['doc', 'head', 'epoch', 'leaseEndsAtMs', 'progress'] as const;

/** A task with the stamp of the store that it was read from. */
export interface StoredTask {
  readonly task: Task;
  readonly epoch: string;
}

/** What scripts compare and change. */
type Head = Pick<
  Task,
  'state' | 'revision' | 'fence' | 'run' | 'runsUsed' | 'wakes' | 'notBeforeMs' | 'changedAtMs'
> & {
  /** Empty where nobody has claimed. */
  readonly claimedBy: string;
  /** As `leaseText` makes it; empty while nobody holds one. */
  readonly lease: string;
};

/**
 * The part of a record that no script looks into. Here and in `assemble` every property is named in one go: V8 makes
 * and copies such objects many times as fast as ones that are spread and added to.
 */
export function toDoc(task: Task): string {
  return JSON.stringify({
    id: task.id,
    namespace: task.namespace,
    lane: task.lane,
    issue: task.issue,
    title: task.title,
    approvedBy: task.approvedBy,
    approvedBodyHash: task.approvedBodyHash,
    criteria: task.criteria,
    dispositions: task.dispositions,
    proof: task.proof,
    maxRuns: task.maxRuns,
    noteSequence: task.noteSequence,
    reason: task.reason,
    detail: task.detail,
    proposals: task.proposals,
    answers: task.answers,
    history: task.history,
    summary: task.summary,
    question: task.question,
    notices: task.notices,
    patch: task.patch,
    createdAtMs: task.createdAtMs,
  } satisfies { [K in Exclude<keyof Task, keyof Head | 'progress'>]: Task[K] | undefined });
}

/** What a holder says of its run, with the run's fence: the next claim's does not fit it, and so need not remove it. */
export function progressText(fence: number, text: string): string {
  return text === '' ? '' : `${fence} ${text}`;
}

/** The first lines of a head: what a decision is based on. */
export function headStart(task: Task): string {
  const lease = task.lease === undefined ? '' : leaseText(task.lease);
  return `${lease}\n${task.state}\n${task.revision}\n`;
}

/** The part that scripts compare and change, a line a field, in the order of `fromHead`. */
export function toHead(task: Task, recordedBy: string): string {
  const { fence, run, runsUsed, wakes, notBeforeMs, changedAtMs, claimedBy = '' } = task;
  const numbers = `${fence}\n${run}\n${runsUsed}\n${wakes}\n${notBeforeMs}\n${changedAtMs}`;
  return `${headStart(task)}${numbers}\n${claimedBy}\n${recordedBy}`;
}

function fromHead(text: string): Head {
  const [lease = '', state, revision, fence, run, runsUsed, wakes, notBeforeMs, changedAtMs, claimedBy = ''] =
    text.split('\n');
  return {
    lease,
    state: state as Head['state'],
    revision: Number(revision),
    fence: Number(fence),
    run: Number(run),
    runsUsed: Number(runsUsed),
    wakes: Number(wakes),
    notBeforeMs: Number(notBeforeMs),
    changedAtMs: Number(changedAtMs),
    claimedBy,
  };
}

/** A lease as the claim script writes it: all of it in one text, so that comparing it compares everything. */
export function leaseText({ id, fence, run, epoch, worker }: Lease): string {
  return `${id} ${fence} ${run} ${epoch} ${worker}`;
}

/**
 * Reads a record from the fields in the order of `taskFields`; null where there is no such task.
 * @throws LaneError `store_unavailable` for a record that is not one: nothing may be decided on it.
 */
export function fromFields(fields: readonly unknown[]): StoredTask | null {
  if (typeof fields[0] !== 'string') return null;
  try {
    const { task, epoch } = assemble(fields);
    return { task: taskSchema.parse(task), epoch };
  } catch (cause) {
    throw new LaneError('store_unavailable', 'a task record cannot be read', { cause });
  }
}

/**
 * Puts the fields in the order of `taskFields` together without looking closer: for the answer to a script of ours,
 * in the caller's own namespace, on a record that was checked when it was written.
 */
export function assemble([
  docText,
  headText,
  epochText,
  leaseEndsAtMs,
  progress,
]: readonly unknown[]): StoredTask {
  const head = fromHead(String(headText));
  const doc = JSON.parse(String(docText));
  const epoch = String(epochText);
  const task = {
    id: doc.id,
    namespace: doc.namespace,
    lane: doc.lane,
    issue: doc.issue,
    title: doc.title,
    approvedBy: doc.approvedBy,
    approvedBodyHash: doc.approvedBodyHash,
    criteria: doc.criteria,
    dispositions: doc.dispositions,
    proof: doc.proof,
    maxRuns: doc.maxRuns,
    state: head.state,
    revision: head.revision,
    fence: head.fence,
    run: head.run,
    runsUsed: head.runsUsed,
    wakes: head.wakes,
    noteSequence: doc.noteSequence,
    reason: doc.reason,
    detail: doc.detail,
    notBeforeMs: head.notBeforeMs,
    lease: leaseOf(doc, head, epoch, Number(leaseEndsAtMs)),
    claimedBy: head.claimedBy === '' ? undefined : head.claimedBy,
    progress: progressOf(head, progress),
    proposals: doc.proposals,
    answers: doc.answers,
    history: doc.history,
    summary: doc.summary,
    question: doc.question,
    notices: doc.notices,
    patch: doc.patch,
    createdAtMs: doc.createdAtMs,
    changedAtMs: head.changedAtMs,
  } satisfies { [K in keyof Required<Task>]: unknown } as Task;
  return { task, epoch };
}

/** What the present holder said last. */
function progressOf({ lease, fence }: Head, text: unknown): string | undefined {
  const start = `${fence} `;
  if (lease === '' || typeof text !== 'string' || !text.startsWith(start)) return undefined;
  return text.slice(start.length);
}

/** The lease, where somebody holds one. */
function leaseOf(
  { id, namespace }: Pick<Task, 'id' | 'namespace'>,
  { lease, run, fence, claimedBy: worker }: Head,
  epoch: string,
  endsAtMs: number,
): Lease | undefined {
  if (lease === '') return undefined;
  return { namespace, task: id, run, fence, id: lease.slice(0, lease.indexOf(' ')), worker, epoch, endsAtMs };
}
