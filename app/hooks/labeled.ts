/** `issues.labeled` and `issues.opened`: a label was set, perhaps as the issue was opened. */
import { hashBody } from '../github/issue.ts';
import { labelSet } from './desk/admission.ts';
import type { Desk } from './desk/port.ts';
import type { Cause } from './desk/records.ts';
import { type IssuesPayload, isPullRequest, refOf, senderOf } from './payload.ts';

async function oneLabel(desk: Desk, payload: IssuesPayload, label: string, cause: Cause): Promise<void> {
  const { body } = payload.issue;
  await labelSet(desk, {
    ref: refOf(payload),
    label,
    sender: senderOf(payload, desk.app.slug),
    cause,
    pullRequest: isPullRequest(payload),
    archived: payload.repository.archived,
    bodyHash: body === undefined ? undefined : hashBody(body),
  });
}

export async function onLabeled(desk: Desk, payload: IssuesPayload, cause: Cause): Promise<void> {
  if (payload.label) await oneLabel(desk, payload, payload.label.name, cause);
}

/** GitHub sends `labeled` as well, in the same second; either may come first, or alone. */
export async function onOpened(desk: Desk, payload: IssuesPayload, cause: Cause): Promise<void> {
  for (const label of payload.issue.labels) await oneLabel(desk, payload, label.name, cause);
}
