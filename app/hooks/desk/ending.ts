/** A task ends: it is cancelled, the issue is free again, and lanes that waited for it are looked at. */
import {
  type Actor,
  type IntakeReason,
  type IssueRecord,
  type IssueRef,
  isLaneError,
  type Task,
} from '../../../lanes/index.ts';
import { labelSet } from './admission.ts';
import { labelOf, lanesHere } from './lanes.ts';
import type { Desk } from './port.ts';
import { type Cause, decide, updateRecord } from './records.ts';

export interface Ending {
  readonly reason: IntakeReason;
  readonly text?: string | undefined;
  readonly actor?: Actor | undefined;
  readonly cause: Cause;
}

/** Cancels a live task, writes down why, and frees its issue. A task that ended meanwhile is only freed. */
export async function cancelTask(desk: Desk, task: Task, ending: Ending): Promise<void> {
  try {
    await desk.engine.cancel(desk.caller(task.namespace), task.namespace, task.id, {
      reason: ending.reason,
      actor: ending.actor,
    });
  } catch (error) {
    if (!isLaneError(error, 'wrong_state') && !isLaneError(error, 'unknown_task')) throw error;
  }
  await decide(desk, task.issue, ending.cause, {
    verdict: 'cancel',
    reason: ending.reason,
    text: ending.text,
  });
  await release(desk, task.issue, task.id);
}

/** Frees an issue from a task that ended, then looks at the lanes whose label was refused meanwhile. */
export async function release(desk: Desk, ref: IssueRef, taskId: string): Promise<void> {
  const waiting: string[] = [];
  const record = await updateRecord(desk, ref, (before) => {
    waiting.length = 0;
    if (before.pointer?.id !== taskId) return null;
    waiting.push(...before.waiting);
    const { pointer: _, ...rest } = before;
    return { ...rest, waiting: [] };
  });
  for (const lane of waiting) {
    try {
      await lookAgain(desk, record, lane);
    } catch (error) {
      // The label scan finds it: a label that was refused for a busy issue does not count as decided about.
      desk.log('warn', 'a waiting lane could not be looked at', {
        lane,
        issue: ref.number,
        error: String(error),
      });
    }
  }
}

/** A lane's label that was refused for a busy issue: is it still set, and by whom? */
async function lookAgain(desk: Desk, record: IssueRecord, lane: string): Promise<void> {
  const ref = record.issue;
  const here = (await lanesHere(desk, ref)).find((one) => one.lane.name === lane);
  if (!here) return;
  const label = labelOf(here);
  const labelling = await desk.github.lastLabelling(ref, label);
  if (!labelling) return;
  const { login, id, type } = labelling.by;
  await labelSet(desk, {
    ref,
    label,
    sender: { login, id, bot: type === 'Bot', ours: login === `${desk.app.slug}[bot]` },
    cause: { source: 'keeper', event: 'issue_free' },
    pullRequest: false,
    archived: false,
  });
}
