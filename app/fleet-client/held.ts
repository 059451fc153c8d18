/** Holding a lease over HTTP, by the same rule as elsewhere: one that cannot be renewed before its end is lost. */
import {
  type ClaimAnswer,
  isLaneError,
  type Kept,
  keepLease,
  LaneError,
  type Lease,
} from '../../lanes/index.ts';
import type { FleetClient } from './client.ts';

export interface HeldLease {
  readonly lease: Lease;
  /** How long it lasts, in ms. */
  readonly endsInMs: number;
  readonly heartbeatEveryMs: number;
}

/** The App's own words about a claim. Its lease is opaque here: the text stands in the place of the id. */
export function leaseOf(claim: ClaimAnswer, worker: string): Lease {
  const { namespace, task, run, fence, endsInMs } = claim;
  const endsAtMs = Date.now() + endsInMs;
  return { namespace, task, run, fence, id: claim.lease, worker, epoch: 'told by the App', endsAtMs };
}

/** Renews until stopped or lost. The signal's reason is the LaneError that tells why. */
export function holdLease(client: FleetClient, held: HeldLease): Kept {
  const renew = async ({ id }: Lease): Promise<void> => {
    try {
      await client.heartbeat(id);
    } catch (error) {
      if (!isLaneError(error) || !error.retryable) throw error;
      // What the renewer waits out: as long as the lease lasts, an App that is away is no reason to stop.
      throw new LaneError('store_unavailable', 'the App did not answer', { cause: error });
    }
  };
  const { lease, endsInMs: leaseTtlMs, heartbeatEveryMs: renewEveryMs } = held;
  return keepLease(lease, { renew, leaseTtlMs, renewEveryMs }, async () => {});
}

/** Whether this says that the caller may not come here any more: its token or its grant is gone. */
export function isShutOut(error: unknown): error is LaneError {
  if (!isLaneError(error)) return false;
  const { code } = error;
  return (
    code === 'identity_required' ||
    code === 'namespace_not_granted' ||
    code === 'fleet_queue_off_limits' ||
    code === 'unknown_namespace'
  );
}
