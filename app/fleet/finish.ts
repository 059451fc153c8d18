/** `complete` and `park`: how a run's end is recorded. Only the lease of that run can do it. */
import {
  completeBodySchema,
  LaneError,
  type Lease,
  parkBodySchema,
  type RecordedAnswer,
  type RunEnd,
  type Task,
  wantsProof,
} from '../../lanes/index.ts';
import { type Call, leaseOf, readJson, refusal } from './call.ts';
import type { HandedOut } from './handed-out.ts';
import { sameClaim } from './identity.ts';
import type { FleetDeps } from './port.ts';

/** @throws LaneError `proof_unverified` where proof is all that is missing: nothing is recorded then. */
export async function complete(deps: FleetDeps, c: Call, handedOut: HandedOut): Promise<Response> {
  const lease = leaseOf(deps, c);
  const { end } = await readJson(c, completeBodySchema);
  const known = handedOut.take(lease);
  // What is decided here, before the store compares anything, is decided on a fresh read.
  if (known === undefined || end.patch !== undefined || wantsProof(known, end) !== null)
    return c.json(await record(deps, c, lease, end, true));
  refusePeople(end);
  return c.json(await write(deps, c, lease, known, end));
}

export async function park(deps: FleetDeps, c: Call): Promise<Response> {
  const lease = leaseOf(deps, c);
  const body = await readJson(c, parkBodySchema);
  if ('end' in body) return c.json(await record(deps, c, lease, body.end, false));
  await taskOf(deps, c, lease);
  const task = await deps.engine.handBack(c.get('caller'), lease, body.handBack);
  await deps.uploads.drop(lease);
  return c.json(toAnswer(task));
}

/**
 * The task whose latest claim is this lease's, running or not.
 * @throws LaneError `lease_lost`.
 */
async function taskOf(deps: FleetDeps, c: Call, lease: Lease): Promise<Task> {
  const caller = c.get('caller');
  const task = await deps.engine.get(caller, lease.namespace, lease.task);
  if (task?.fence === lease.fence && task.run === lease.run) return task;
  const of = { by: caller.identity, namespace: lease.namespace };
  throw refusal(deps, c, { ...of, code: 'lease_lost', why: lease.task });
}

async function record(
  deps: FleetDeps,
  c: Call,
  lease: Lease,
  end: RunEnd,
  strict: boolean,
): Promise<RecordedAnswer> {
  refusePeople(end);
  const task = await taskOf(deps, c, lease);
  const held = task.state === 'running' && sameClaim(task.lease, lease);
  const missing = strict && held ? wantsProof(task, end) : null;
  if (missing !== null) throw new LaneError('proof_unverified', missing);
  const patch = held && end.patch !== undefined ? await deps.uploads.settle(lease, end.patch) : end.patch;
  const final = patch === undefined ? end : { ...end, patch };
  // An end that was recorded once is answered again: so it is asked as if the run went on, and the store says which it is.
  const from: Task = held ? task : { ...task, state: 'running', lease };
  return write(deps, c, lease, from, final);
}

async function write(
  deps: FleetDeps,
  c: Call,
  lease: Lease,
  from: Task,
  end: RunEnd,
): Promise<RecordedAnswer> {
  const recorded = await deps.engine.record(c.get('caller'), lease, from, end);
  if (end.patch === undefined) await deps.uploads.drop(lease);
  return toAnswer(recorded);
}

/** What people decide, they decide on the issue. */
function refusePeople(end: RunEnd): void {
  if (end.kind !== 'result') return;
  const all = [...end.dispositions, ...end.proposals];
  if (all.every(({ by }) => by.kind === 'agent')) return;
  throw new LaneError('invalid_result', "a verdict of a person's does not come from a run");
}

function toAnswer({ state, reason }: Task): RecordedAnswer {
  return reason === undefined ? { state } : { state, reason };
}
