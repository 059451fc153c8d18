/**
 * Who calls. The identity is the token's worker, its namespaces are the operator's grants for that name; nothing of it comes
 * from the request. Where either was taken away while a run is in hand, the run is taken back.
 */
import { type Lease, makeCaller } from '../../lanes/index.ts';
import { type Call, refusal } from './call.ts';
import type { FleetDeps } from './port.ts';

/**
 * Puts the caller into the call.
 * @throws LaneError `identity_required`, `namespace_not_granted`.
 */
export async function identify(deps: FleetDeps, c: Call): Promise<void> {
  const identity = deps.tokens.identify(c.env.incoming.headers.authorization);
  if (identity.kind === 'unknown') throw refusal(deps, c, { by: '', code: 'identity_required' });
  const { worker } = identity;
  if (identity.kind === 'revoked') {
    await takeBack(deps, c, worker, 'the token of its worker was revoked');
    throw refusal(deps, c, { by: worker, code: 'identity_required', why: 'the token was revoked' });
  }
  const namespaces = deps.grants.get(worker) ?? [];
  if (namespaces.length === 0) {
    await takeBack(deps, c, worker, 'its worker has no grants any more');
    const why = `${worker} has no grants`;
    throw refusal(deps, c, { by: worker, code: 'namespace_not_granted', why });
  }
  c.set('caller', makeCaller(worker, namespaces));
}

/** Takes the run of the lease in the address away from a worker that may not have it. Never rejects. */
export async function takeBack(deps: FleetDeps, c: Call, worker: string, why: string): Promise<void> {
  const text = /\/leases\/([^/]+)\//.exec(c.req.path)?.[1];
  const lease = text === undefined ? null : deps.leases.open(text);
  if (lease?.worker !== worker) return;
  try {
    const caller = deps.appCaller(lease.namespace);
    const task = await deps.engine.get(caller, lease.namespace, lease.task);
    if (task?.state === 'running' && sameClaim(task.lease, lease)) {
      await deps.engine.takeBack(caller, lease.namespace, lease.task, why);
    }
  } catch (error) {
    deps.log.warn({ err: error, worker, task: lease.task }, 'a run could not be taken back');
  }
}

/** Whether two leases are of one claim: their ends may differ. */
export function sameClaim(one: Lease | undefined, other: Lease): boolean {
  const keys = ['namespace', 'task', 'run', 'fence', 'id', 'worker', 'epoch'] as const;
  return one !== undefined && keys.every((key) => one[key] === other[key]);
}
