/** GitHub refused a change for good: it is written down for `explain`, and the task goes where the table sends it. */
import { type IssueRef, isLaneError, liveStates, type Namespace, type Task } from '../../lanes/index.ts';
import type { Failure } from '../github/failure.ts';
import { cancelTask } from '../hooks/desk/ending.ts';
import type { Desk } from '../hooks/desk/port.ts';
import { decide } from '../hooks/desk/records.ts';

const cause = { source: 'broker', event: 'delivery' } as const;

/** Writes down that a change was refused. */
export async function noteRefusal(
  desk: Desk,
  issue: IssueRef,
  what: string,
  failure: Failure,
): Promise<void> {
  const text = `GitHub refused ${what}: ${failure.message}`;
  await decide(desk, issue, cause, { verdict: 'note', reason: 'delivery_refused', text });
}

/** A task by its id, with the issue that it was found bound to. */
export interface Bound {
  readonly namespace: Namespace;
  readonly task: string;
  readonly issue: IssueRef;
}

/**
 * Moves the task of a refused effect on. Gone: cancelled. Not writable: parked, unless it is parked already, since
 * parking writes a note that would be refused as well.
 */
export async function moveOn(desk: Desk, bound: Bound, failure: Failure): Promise<void> {
  const { namespace, issue } = bound;
  const found = await desk.engine.get(desk.caller(namespace), namespace, bound.task);
  if (!found || !liveStates.includes(found.state)) return;
  const task = { ...found, issue };
  if (failure.kind === 'gone') return cancelTask(desk, task, { reason: 'issue_gone', cause });
  if (task.state !== 'parked') await parkNotWritable(desk, task, failure.message);
}

async function parkNotWritable(desk: Desk, task: Task, detail: string): Promise<void> {
  try {
    const input = { reason: 'not_writable', detail } as const;
    await desk.engine.park(desk.caller(task.namespace), task.namespace, task.id, input);
  } catch (error) {
    if (!isLaneError(error, 'wrong_state')) throw error;
  }
}
