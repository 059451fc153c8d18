/**
 * What the operator's file does not allow any more: a running task whose worker has lost its grant is taken back, not
 * counted, and the old lease is refused from then on; a queued task whose lane is gone is parked, with the reason.
 */
import {
  type Engine,
  grantLost,
  isLaneError,
  laneLost,
  type Namespace,
  type Task,
} from '../../lanes/index.ts';
import type { Desk } from '../hooks/desk/port.ts';

export interface EntitlementDeps {
  readonly desk: Desk;
  readonly engine: Pick<Engine, 'list' | 'park' | 'takeBack'>;
  /** Worker identity -> what it may consume. */
  readonly grants: ReadonlyMap<string, readonly Namespace[]>;
}

/**
 * Looks over one namespace. `queuedLanes` are the lanes that have queued tasks there.
 * @throws LaneError where the store cannot be asked.
 */
export async function enforceEntitlement(
  { desk, engine, grants }: EntitlementDeps,
  namespace: Namespace,
  queuedLanes: ReadonlySet<string>,
): Promise<void> {
  const caller = desk.caller(namespace);
  for (const task of await engine.list(caller, namespace, ['running'])) {
    const why = grantLost(task, grants);
    if (why === null) continue;
    const taken = await unlessMoved(() => engine.takeBack(caller, namespace, task.id, why));
    if (taken) desk.log('warn', 'a run was taken back', { namespace, task: task.id, why });
  }
  const lost = (task: Pick<Task, 'lane' | 'namespace'>) => laneLost(task, desk.lanes);
  if (![...queuedLanes].some((lane) => lost({ lane, namespace }) !== null)) return;
  for (const task of await engine.list(caller, namespace, ['queued'])) {
    const detail = lost(task);
    if (detail === null) continue;
    const input = { reason: 'agent_unavailable', detail } as const;
    const parked = await unlessMoved(() => engine.park(caller, namespace, task.id, input));
    if (parked) desk.log('warn', 'a task was parked', { namespace, task: task.id, why: detail });
  }
}

/** A task that ended, or that a person moved, since it was listed is none of ours: answers whether it was. */
async function unlessMoved(act: () => Promise<Task>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    if (isLaneError(error, 'wrong_state') || isLaneError(error, 'unknown_task')) return false;
    throw error;
  }
}
