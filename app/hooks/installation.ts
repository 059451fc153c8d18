/** `installation*`: labels are created where the App is new; where it left, its tasks end. */
import { intakeNamespace } from '../../lanes/index.ts';
import { cancelTask } from './desk/ending.ts';
import type { Desk } from './desk/port.ts';
import { type Cause, liveTask } from './desk/records.ts';
import type { InstallationPayload } from './payload.ts';

/** Where labels are made, beside the hooks: an installation on many repositories takes its time. */
export interface LabelWishes {
  want(installation: number, repositories: readonly { id: number; full_name: string }[]): void;
}

export async function onInstalled(wishes: LabelWishes, payload: InstallationPayload): Promise<void> {
  const repositories = [...(payload.repositories ?? []), ...(payload.repositories_added ?? [])];
  wishes.want(payload.installation.id, repositories);
}

/** Uninstalled or suspended: every task of the installation ends. Taken off some repositories: theirs do. */
export async function onRemoved(desk: Desk, payload: InstallationPayload, cause: Cause): Promise<void> {
  const removed = payload.repositories_removed ?? [];
  const only = removed.length > 0 ? new Set(removed.map((repository) => repository.id)) : null;
  for (const record of await desk.engine.issues.live(desk.caller(intakeNamespace))) {
    if (record.issue.installation !== payload.installation.id) continue;
    if (only !== null && !only.has(record.issue.repositoryId)) continue;
    const task = await liveTask(desk, record);
    if (task) await cancelTask(desk, task, { reason: 'installation_removed', cause });
  }
}
