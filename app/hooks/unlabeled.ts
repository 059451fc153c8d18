/** `issues.unlabeled`: the lane's label was taken off, which cancels its task and ends its run. */
import { sameLabel } from '../../lanes/index.ts';
import { cancelTask } from './desk/ending.ts';
import { laneForLabel } from './desk/lanes.ts';
import type { Desk } from './desk/port.ts';
import { type Cause, decide, liveTask, recordOf, updateRecord } from './desk/records.ts';
import { actorOf, type IssuesPayload, refOf } from './payload.ts';

export async function onUnlabeled(desk: Desk, payload: IssuesPayload, cause: Cause): Promise<void> {
  const label = payload.label?.name;
  const ref = refOf(payload);
  const record = await recordOf(desk, ref);
  if (label === undefined || record === null) return;
  const here = await laneForLabel(desk, ref, label);
  if (here === null) return;
  const ignore = (reason: 'gone' | 'label_still_set' | 'no_task' | 'not_this_lane') =>
    decide(desk, ref, cause, { verdict: 'ignore', reason });

  const look = await desk.github.issue(ref);
  if (look.kind === 'gone') return ignore('gone');
  if (look.issue.labels.some((name) => sameLabel(name, label))) return ignore('label_still_set');
  const lane = here.lane.name;
  if (record.waiting.includes(lane)) {
    await updateRecord(desk, ref, (before) => ({
      ...before,
      waiting: before.waiting.filter((name) => name !== lane),
    }));
  }
  const task = await liveTask(desk, record);
  if (task === null) return ignore('no_task');
  if (task.lane !== lane) return ignore('not_this_lane');
  await cancelTask(desk, task, { reason: 'label_removed', actor: actorOf(payload), cause });
}
