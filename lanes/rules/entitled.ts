/** Who may still have what, by the operator's file: asked again and again, since the file changes between two starts. */
import type { Namespace } from '../namespaces.ts';
import type { Lane } from '../records/config.ts';
import type { Task } from '../records/tasks.ts';

/**
 * Why a running task is taken back from its worker; null where the worker may keep it. A worker of any kind is one that
 * the file names under `grants`, so one that it does not name may keep nothing.
 */
export function grantLost(
  { lease, namespace }: Pick<Task, 'lease' | 'namespace'>,
  grants: ReadonlyMap<string, readonly Namespace[]>,
): string | null {
  if (lease === undefined || grants.get(lease.worker)?.includes(namespace)) return null;
  return `${lease.worker} is not granted ${namespace} any more`;
}

/** Why a queued task would wait for ever; null where its lane is there. A worker serves the lanes of the file only. */
export function laneLost(
  { lane, namespace }: Pick<Task, 'lane' | 'namespace'>,
  lanes: readonly Pick<Lane, 'name' | 'namespace'>[],
): string | null {
  const there = lanes.some((one) => one.name === lane && one.namespace === namespace);
  return there ? null : `the operator's file has no lane ${lane} in ${namespace} any more`;
}
