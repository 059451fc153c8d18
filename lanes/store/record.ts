/** The task record in Redis: scalars that scripts compare, and one JSON document. Read back only through its schema. */
import { LaneError } from '../errors.ts';
import { type Task, taskSchema } from '../records/tasks.ts';
import { taskFields } from './scripts/shared.ts';

/** A task with the stamp of the store that it was read from. */
export interface StoredTask {
  readonly task: Task;
  readonly epoch: string;
}

/** The fields and values that a script sets for this record. The epoch is the script's own. */
export function toFields(task: Task): (string | number)[] {
  const { state, revision, fence, run, runsUsed, wakes, noteSequence, ...rest } = task;
  const { notBeforeMs, changedAtMs, claimedBy, lease, ...doc } = rest;
  return [
    ...['doc', JSON.stringify(doc), 'state', state, 'revision', revision, 'fence', fence, 'run', run],
    ...['runsUsed', runsUsed, 'wakes', wakes, 'noteSequence', noteSequence],
    ...['notBeforeMs', notBeforeMs, 'changedAtMs', changedAtMs, 'claimedBy', claimedBy ?? ''],
    ...[
      'leaseId',
      lease?.id ?? '',
      'leaseWorker',
      lease?.worker ?? '',
      'leaseEndsAtMs',
      lease?.endsAtMs ?? 0,
    ],
  ];
}

type Fields = Record<(typeof taskFields)[number], string>;

/**
 * Reads a record from the fields in the order of `taskFields`; null where there is no such task.
 * @throws LaneError `store_unavailable` for a record that is not one: nothing may be decided on it.
 */
export function fromFields(answer: unknown): StoredTask | null {
  if (!Array.isArray(answer) || answer[0] === null) return null;
  const fields = Object.fromEntries(taskFields.map((name, i) => [name, String(answer[i])])) as Fields;
  const { doc, state, epoch, claimedBy } = fields;
  try {
    const rest = JSON.parse(doc);
    const numbers = {
      revision: Number(fields.revision),
      fence: Number(fields.fence),
      run: Number(fields.run),
      runsUsed: Number(fields.runsUsed),
      wakes: Number(fields.wakes),
      noteSequence: Number(fields.noteSequence),
      notBeforeMs: Number(fields.notBeforeMs),
      changedAtMs: Number(fields.changedAtMs),
    };
    const claimed = claimedBy === '' ? {} : { claimedBy };
    const task = taskSchema.parse({ ...rest, state, ...numbers, ...claimed, ...leaseOf(fields, rest) });
    return { task, epoch };
  } catch (cause) {
    throw new LaneError('store_unavailable', 'a task record cannot be read', { cause });
  }
}

function leaseOf(fields: Fields, { id, namespace }: { id: string; namespace: string }): object {
  if (fields.leaseId === '') return {};
  const { epoch, leaseId, leaseWorker } = fields;
  const numbers = {
    run: Number(fields.run),
    fence: Number(fields.fence),
    endsAtMs: Number(fields.leaseEndsAtMs),
  };
  return { lease: { namespace, task: id, ...numbers, id: leaseId, worker: leaseWorker, epoch } };
}
