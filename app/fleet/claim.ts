/** `pending` and `claim`: what waits for a box, and giving it the next run. */
import { z } from 'zod';
import {
  type ClaimAnswer,
  claimBodySchema,
  isLaneError,
  LaneError,
  type Lease,
  type Namespace,
  namespaceSchema,
  type Task,
} from '../../lanes/index.ts';
import { type Call, readJson, refusal } from './call.ts';
import type { HandedOut } from './handed-out.ts';
import type { FleetDeps } from './port.ts';

/** When a run that was given back for want of GitHub may start again. */
const askAgainMs = 10_000;

/** A namespace that is none is refused as one, not as a body that cannot be read. */
const bodySchema = claimBodySchema.extend({ namespace: z.string() });

export async function pending(deps: FleetDeps, c: Call): Promise<Response> {
  const asked = c.req.query('namespace');
  const lines = await deps.engine.pending(
    c.get('caller'),
    asked === undefined ? undefined : namespaceNamed(deps, c, asked),
  );
  return c.json({
    pending: lines.reduce((sum, { tasks }) => sum + tasks, 0),
    namespaces: Object.fromEntries(lines.map(({ namespace, tasks }) => [namespace, tasks])),
  });
}

/** Waits for work as long as was asked for; a run that nobody waits for any more is given back. */
export async function claim(
  deps: FleetDeps,
  c: Call,
  closing: AbortSignal,
  handedOut: HandedOut,
): Promise<Response> {
  const caller = c.get('caller');
  const { namespace: asked, waitMs } = await readJson(c, bodySchema);
  const namespace = namespaceNamed(deps, c, asked);
  const untilMs = performance.now() + waitMs;
  for (;;) {
    const claimed = await deps.engine.claimNext(caller, namespace);
    if (claimed !== null) return offer(deps, c, claimed, handedOut);
    const leftMs = untilMs - performance.now();
    if (leftMs <= 0 || !(await wait(c, closing, Math.min(leftMs, deps.lookEveryMs))))
      return c.body(null, 204);
  }
}

/** @throws LaneError `unknown_namespace`. */
function namespaceNamed(deps: FleetDeps, c: Call, text: string): Namespace {
  const parsed = namespaceSchema.safeParse(text);
  if (parsed.success) return parsed.data;
  const namespace = text.slice(0, 80);
  const by = c.get('caller').identity;
  throw refusal(deps, c, { by, namespace, code: 'unknown_namespace', why: JSON.stringify(namespace) });
}

/** False at once where there is no sense in waiting any more. */
function wait({ env: { outgoing } }: Call, closing: AbortSignal, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (on: boolean) => {
      clearTimeout(timer);
      outgoing.off('close', stop);
      closing.removeEventListener('abort', stop);
      resolve(on);
    };
    const stop = () => end(false);
    const timer = setTimeout(() => end(true), ms);
    if (closing.aborted || outgoing.destroyed) return stop();
    outgoing.once('close', stop);
    closing.addEventListener('abort', stop, { once: true });
  });
}

interface Claimed {
  readonly task: Task;
  readonly lease: Lease;
}

async function offer(deps: FleetDeps, c: Call, claimed: Claimed, handedOut: HandedOut): Promise<Response> {
  const { outgoing } = c.env;
  const { lease } = claimed;
  const answer = await mayBegin(deps, c, lease);
  const lane = deps.lanes.find(({ name }) => name === claimed.task.lane);
  if (!answer.allowed || lane === undefined) return c.body(null, 204);
  const unheard = () => void giveBack(deps, c, lease, 'nobody waited for the run', 0);
  if (outgoing.destroyed) unheard();
  else outgoing.once('close', () => outgoing.writableFinished || unheard());
  handedOut.add(lease, claimed.task);
  return c.json({
    lease: deps.leases.seal(lease),
    namespace: lease.namespace,
    task: lease.task,
    run: lease.run,
    fence: lease.fence,
    endsInMs: deps.leaseTtlMs,
    heartbeatEveryMs: deps.heartbeatEveryMs,
    taskRecord: claimed.task,
    lane,
    input: answer.input,
  } satisfies ClaimAnswer);
}

async function mayBegin(deps: FleetDeps, c: Call, lease: Lease) {
  try {
    return await deps.host.mayBegin(lease);
  } catch (error) {
    await giveBack(deps, c, lease, 'GitHub could not be asked', askAgainMs);
    throw new LaneError('github_unavailable', undefined, { cause: error });
  }
}

async function giveBack(deps: FleetDeps, c: Call, lease: Lease, why: string, waitMs: number): Promise<void> {
  try {
    await deps.engine.handBack(c.get('caller'), lease, why, waitMs);
  } catch (error) {
    // A lease that is lost has nothing to give back.
    if (!isLaneError(error, 'lease_lost'))
      deps.log.warn({ err: error, task: lease.task }, 'a run could not be given back');
  }
}
