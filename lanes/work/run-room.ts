/** What a run is given, and how it can turn out. */
import type { Lane } from '../records/config.ts';
import type { Lease, RunEnd, RunInput } from '../records/runs.ts';
import type { Task } from '../records/tasks.ts';
import type { Containment } from './containment.ts';
import type { Copy } from './copy.ts';
import type { Environment } from './environment.ts';
import type { HostPort } from './host-port.ts';
import type { RunContained, RunnerDeps } from './run-contained.ts';

export interface SupervisorDeps extends RunnerDeps {
  readonly host: HostPort;
  /** The last look before the agent starts. Rejects with LaneError `lease_lost` where it may not. */
  readonly begin: (lease: Lease) => Promise<void>;
  /** What `probeContainment` found on this machine. */
  readonly levels: readonly Containment[];
  /** The worker's own environment, of which an agent gets what its lane lists. */
  readonly worker: Environment;
  /** Proxy and certificate variables for git, from the configuration. */
  readonly networkEnv: Readonly<Record<string, string>>;
  /** The text of `templates/prompts/task.md`. */
  readonly promptTemplate: string;
}

/**
 * Why a run stops without an end of its own: as the signal's reason says it, or `app_unreachable`, where nothing was
 * begun because nobody could say whether it may be.
 */
export type StopReason = 'lease_lost' | 'cancelled' | 'shutdown' | 'app_unreachable';

export interface RunOrder {
  readonly task: Task;
  readonly lease: Lease;
  readonly lane: Lane;
  /** Aborted with a `StopReason`. */
  readonly signal: AbortSignal;
}

/**
 * How a run turned out: its end, to be recorded; not allowed, where the App has moved the task itself; or stopped,
 * where it was told to. What a stopped run had done is in the outbox.
 */
export type RunOutcome =
  | RunEnd
  | { readonly kind: 'not_allowed'; readonly why: string }
  | { readonly kind: 'stopped'; readonly why: StopReason };

/** What the second half of a run, from its copy on, works with. */
export interface RunRoom extends RunOrder {
  readonly deps: SupervisorDeps;
  readonly input: RunInput;
  readonly containment: Containment;
  readonly run: RunContained;
  readonly copy: Copy;
}
