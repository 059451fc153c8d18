/** `issues.reopened`: starts nothing by itself, and `explain` says so. */
import type { Desk } from './desk/port.ts';
import { type Cause, decide, liveTask, recordOf } from './desk/records.ts';
import { type IssuesPayload, refOf, senderOf } from './payload.ts';

export async function onReopened(desk: Desk, payload: IssuesPayload, cause: Cause): Promise<void> {
  const ref = refOf(payload);
  if (senderOf(payload, desk.app.slug).ours) {
    return decide(desk, ref, cause, { verdict: 'ignore', reason: 'own_event' });
  }
  const task = await liveTask(desk, await recordOf(desk, ref));
  const reason = task === null ? 'reopened_nothing_running' : 'reopened_task_live';
  await decide(desk, ref, cause, { verdict: 'ignore', reason });
}
