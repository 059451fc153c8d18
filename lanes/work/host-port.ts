/**
 * The host port: what a worker asks of the App. In `start` it is answered over Node IPC, elsewhere over HTTP; a
 * supervisor sees this interface only. Its messages are in `lanes/records/host.ts`.
 */
import type { AllowedAnswer, LookUpAnswer, LookUpQuery } from '../records/host.ts';
import type { Lease } from '../records/runs.ts';

export interface HostPort {
  /**
   * Whether this run may begin, with all that it may know. Where it may not, the App has already parked or cancelled
   * the task: the worker just stops.
   * @throws LaneError where the App or GitHub cannot be asked, or the lease is not good any more.
   */
  allowed(lease: Lease): Promise<AllowedAnswer>;
  /**
   * Looks up evidence in the repository of the lease's issue.
   * @throws LaneError where it cannot be asked. Not being found is an answer, not an error.
   */
  lookUp(lease: Lease, query: LookUpQuery): Promise<LookUpAnswer>;
}
