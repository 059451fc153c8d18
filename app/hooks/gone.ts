/** `issues.deleted` and `issues.transferred`: there is no issue any more to work on, or to write on. */
import { cancelTask } from './desk/ending.ts';
import type { Desk } from './desk/port.ts';
import { type Cause, decide, liveTask, recordOf } from './desk/records.ts';
import { actorOf, type IssuesPayload, refOf } from './payload.ts';

async function onGone(
  desk: Desk,
  payload: IssuesPayload,
  cause: Cause,
  reason: 'issue_deleted' | 'issue_transferred',
): Promise<void> {
  const ref = refOf(payload);
  const task = await liveTask(desk, await recordOf(desk, ref));
  if (task === null) return decide(desk, ref, cause, { verdict: 'ignore', reason: 'no_task' });
  const look = await desk.github.issue(ref);
  if (look.kind === 'issue') return decide(desk, ref, cause, { verdict: 'ignore', reason: 'still_there' });
  await cancelTask(desk, task, { reason, actor: actorOf(payload), cause });
}

export function onDeleted(desk: Desk, payload: IssuesPayload, cause: Cause): Promise<void> {
  return onGone(desk, payload, cause, 'issue_deleted');
}

export function onTransferred(desk: Desk, payload: IssuesPayload, cause: Cause): Promise<void> {
  return onGone(desk, payload, cause, 'issue_transferred');
}
