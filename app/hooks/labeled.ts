/** `issues.labeled` and `issues.opened`: a label was set, perhaps as the issue was opened. */
import { hashBody } from '../github/issue.ts';
import { labelSet } from './desk/admission.ts';
import { laneForLabel } from './desk/lanes.ts';
import type { Desk } from './desk/port.ts';
import { type Cause, decide, recordOf } from './desk/records.ts';
import { type IssuesPayload, isPullRequest, refOf, senderOf } from './payload.ts';

async function oneLabel(desk: Desk, payload: IssuesPayload, label: string, cause: Cause): Promise<void> {
  const { title, body, closed_at: closedAt } = payload.issue;
  await labelSet(desk, {
    ref: refOf(payload),
    label,
    sender: senderOf(payload, desk.app.slug),
    cause,
    pullRequest: isPullRequest(payload),
    archived: payload.repository.archived,
    wasOpen: closedAt === null || closedAt === undefined,
    title,
    bodyHash: body === undefined ? undefined : hashBody(body),
  });
}

export async function onLabeled(desk: Desk, payload: IssuesPayload, cause: Cause): Promise<void> {
  if (payload.label) await oneLabel(desk, payload, payload.label.name, cause);
}

/**
 * GitHub sends `labeled` as well, in the same second; either may come first, or alone. An issue is opened once: where a
 * lane's label was decided about before, that was of this opening or of something later.
 */
export async function onOpened(desk: Desk, payload: IssuesPayload, cause: Cause): Promise<void> {
  const ref = refOf(payload);
  for (const { name } of payload.issue.labels) {
    const here = await laneForLabel(desk, ref, name);
    const seen = here ? (await recordOf(desk, ref))?.labelsSeen?.[here.lane.name] : undefined;
    if (seen === undefined) await oneLabel(desk, payload, name, cause);
    else await decide(desk, ref, cause, { verdict: 'ignore', reason: 'duplicate' });
  }
}
