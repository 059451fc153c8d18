/** The task record in Redis: `head`, what scripts compare and change, and `doc`, the rest; both JSON. */
import { z } from 'zod';
import { LaneError } from '../errors.ts';
import { atMsSchema } from '../records/common.ts';
import type { Lease } from '../records/runs.ts';
import { type Task, taskSchema, taskStateSchema } from '../records/tasks.ts';

/**
 * The task hash. `head` is JSON with what scripts compare and change; `doc` is JSON with the rest, which they pass on;
 * `epoch` is the store's stamp; `leaseEndsAtMs` is moved by renewals alone. Four fields and not one for each scalar: a
 * hash of many fields next to a long one costs Redis several times as much.
 */
export const taskFields = ['doc', 'head', 'epoch', 'leaseEndsAtMs'] as const;

/** A task with the stamp of the store that it was read from. */
export interface StoredTask {
  readonly task: Task;
  readonly epoch: string;
}

const count = z.int().nonnegative();
const headSchema = z.strictObject({
  state: taskStateSchema,
  revision: count,
  fence: count,
  run: count,
  runsUsed: count,
  wakes: count,
  notBeforeMs: atMsSchema,
  changedAtMs: atMsSchema,
  claimedBy: z.string(),
  /** As `leaseText` makes it; empty while nobody holds one. */
  lease: z.string(),
  /** The lease that recorded last. */
  recordedBy: z.string(),
});
type Head = z.infer<typeof headSchema>;

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
  } satisfies { [K in Exclude<keyof Task, keyof Head>]: Task[K] | undefined });
}

/** The part that scripts compare and change. */
export function toHead(task: Task, recordedBy: string): string {
  const head: Head = {
    state: task.state,
    revision: task.revision,
    fence: task.fence,
    run: task.run,
    runsUsed: task.runsUsed,
    wakes: task.wakes,
    notBeforeMs: task.notBeforeMs,
    changedAtMs: task.changedAtMs,
    claimedBy: task.claimedBy ?? '',
    lease: task.lease === undefined ? '' : leaseText(task.lease),
    recordedBy,
  };
  return JSON.stringify(head);
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
export function assemble([docText, headText, epochText, leaseEndsAtMs]: readonly unknown[]): StoredTask {
  const head: Head = JSON.parse(String(headText));
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
