/**
 * Whether an effect may touch its issue. A worker can write effects into its own namespace, so an effect is believed only
 * where the App's own pointer binds that issue to that namespace and task. What to address comes from the record.
 */
import type { IssueRecord, Namespace, Task } from '../../../lanes/index.ts';
import type { Desk } from './port.ts';
import { recordOf } from './records.ts';

/** The issue's record if its pointer names this task in this namespace, else null. */
export async function bindingOf(
  desk: Desk,
  namespace: Namespace,
  task: Pick<Task, 'id' | 'issue'>,
): Promise<IssueRecord | null> {
  const record = await recordOf(desk, task.issue);
  const pointer = record?.pointer;
  if (!record || pointer?.id !== task.id || pointer.namespace !== namespace) return null;
  return record;
}
