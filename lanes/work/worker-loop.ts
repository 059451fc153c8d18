/**
 * The worker's loop: serves the lanes of every namespace that the worker is granted, each with its own concurrency. A
 * wake-up leads to a claim, a claim to a run, a run to a record; the lease is held from the claim to the record, by the
 * one renewer.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { isLaneError, LaneError } from '../errors.ts';
import type { Caller, Namespace } from '../namespaces.ts';
import type { Lane } from '../records/config.ts';
import type { Lease, RunEnd } from '../records/runs.ts';
import type { Task, TaskState } from '../records/tasks.ts';
import type { RunOrder, RunOutcome, StopReason } from './run-room.ts';
import { type LaneServing, ServedNamespace } from './served-namespace.ts';
import { byTheClock, type Sleep } from './sleep.ts';

/** What a wake-up gives to hold a lease with. The signal aborts once the lease is lost. */
export interface WakeHold {
  keep(lease: Lease): { readonly signal: AbortSignal; stop(): void };
}

export type Claim =
  | { readonly kind: 'claimed'; readonly task: Task; readonly lease: Lease }
  | {
      readonly kind: 'not_claimable';
      readonly state: TaskState | 'missing' | 'paused';
      readonly notBeforeMs: number;
    };

/** What the loop needs of the engine. */
export interface WorkerEngine {
  count(caller: Caller, ns: Namespace): Promise<unknown>;
  claim(caller: Caller, ns: Namespace, task: string): Promise<Claim>;
  record(caller: Caller, lease: Lease, task: Task, end: RunEnd): Promise<Task>;
  handBack(caller: Caller, lease: Lease, why: string, waitMs?: number): Promise<Task>;
  serve(
    caller: Caller,
    ns: Namespace,
    options: {
      readonly lane: string;
      readonly concurrency: number;
      onWake(task: string, hold: WakeHold): Promise<void>;
      onTrouble(error: Error): void;
    },
  ): Promise<LaneServing>;
}

export interface WorkerOptions {
  readonly engine: WorkerEngine;
  readonly caller: Caller;
  /** The lanes of this installation; those in namespaces that the caller is granted are served. */
  readonly lanes: readonly Lane[];
  readonly supervise: (order: RunOrder) => Promise<RunOutcome>;
  /** Hears of what went wrong around runs: for the log. */
  readonly onTrouble: (error: Error) => void;
  /** How it waits before a namespace that was refused is asked for again. Default: by the clock. */
  readonly sleep?: Sleep;
}

export interface RunningWorker {
  /**
   * Takes no more runs, lets those in hand finish for `graceMs`, then stops them: their work is captured, and they are
   * handed back. Resolves when nothing is left running.
   */
  close(graceMs: number): Promise<void>;
}

/** How long a task waits that could not be begun because GitHub or the App could not be asked. */
const askAgainMs = 60_000;

/** How long a record waits before it is tried again while Redis is away. The lease bounds how often. */
const recordPauseMs = 500;

/** A wake-up in the queue of another lane says nothing: its task is given back, and woken in its own. */
const wrongLane = { kind: 'stopped', why: 'wrong_lane' } as const;

/**
 * Starts serving.
 * @throws LaneError `namespace_not_granted` where no lane lies in a namespace of the caller's; what `serve` refuses.
 */
export async function runWorker(options: WorkerOptions): Promise<RunningWorker> {
  const byNamespace = new Map<Namespace, Lane[]>();
  for (const lane of options.lanes) {
    if (!options.caller.namespaces.has(lane.namespace)) continue;
    byNamespace.set(lane.namespace, [...(byNamespace.get(lane.namespace) ?? []), lane]);
  }
  if (byNamespace.size === 0) {
    throw new LaneError('namespace_not_granted', `${options.caller.identity} is granted no lane's namespace`);
  }
  const worker = new Worker(options);
  try {
    for (const [namespace, lanes] of byNamespace) await worker.serve(namespace, lanes);
  } catch (error) {
    await worker.close(0);
    throw error;
  }
  return worker;
}

class Worker implements RunningWorker {
  readonly #options: WorkerOptions;
  readonly #served: ServedNamespace[] = [];
  readonly #runs = new Set<AbortController>();
  #closing = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  async serve(namespace: Namespace, lanes: readonly Lane[]): Promise<void> {
    const { engine, caller, onTrouble, sleep = byTheClock } = this.#options;
    const openLanes = lanes.map((lane) => (tell: (error: Error) => void) => {
      const onWake = async (task: string, hold: WakeHold) => {
        // What is queued stays queued; the keeper wakes it.
        if (!this.#closing) await this.#run(lane, task, hold);
      };
      const { name, concurrency } = lane;
      return engine.serve(caller, namespace, { lane: name, concurrency, onWake, onTrouble: tell });
    });
    const look = () => engine.count(caller, namespace);
    this.#served.push(await ServedNamespace.open({ namespace, openLanes, look, onTrouble, sleep }));
  }

  async #run(lane: Lane, id: string, hold: WakeHold): Promise<void> {
    const { engine, caller } = this.#options;
    const claim = await engine.claim(caller, lane.namespace, id);
    if (claim.kind === 'not_claimable') return;
    const { task, lease } = claim;
    const kept = hold.keep(lease);
    const run = new AbortController();
    const lose = () => run.abort('lease_lost' satisfies StopReason);
    kept.signal.addEventListener('abort', lose, { once: true });
    this.#runs.add(run);
    if (this.#closing) run.abort('shutdown' satisfies StopReason);
    try {
      const outcome =
        task.lane === lane.name
          ? await this.#options.supervise({ task, lease, lane, signal: run.signal })
          : wrongLane;
      await this.#settle(task, lease, outcome, kept.signal);
    } finally {
      kept.stop();
      kept.signal.removeEventListener('abort', lose);
      this.#runs.delete(run);
    }
  }

  async #settle(
    task: Task,
    lease: Lease,
    outcome: RunOutcome | typeof wrongLane,
    lost: AbortSignal,
  ): Promise<void> {
    const { engine, caller } = this.#options;
    switch (outcome.kind) {
      case 'not_allowed':
        return;
      case 'stopped':
        await this.#giveBack(lease, outcome.why, lost);
        return;
      default:
        await persist(() => engine.record(caller, lease, task, outcome), lost);
    }
  }

  /** A run that nothing ended but us is given back; one that was taken from us is nobody's to give. */
  async #giveBack(lease: Lease, why: StopReason | 'wrong_lane', lost: AbortSignal): Promise<void> {
    const { engine, caller } = this.#options;
    if (why === 'shutdown') {
      await persist(() => engine.handBack(caller, lease, 'the worker was shut down'), lost);
    } else if (why === 'wrong_lane') {
      await persist(
        () => engine.handBack(caller, lease, 'its wake-up was in the queue of another lane'),
        lost,
      );
    } else if (why === 'app_unreachable') {
      await persist(() => engine.handBack(caller, lease, 'GitHub could not be asked', askAgainMs), lost);
    }
  }

  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    const closed = Promise.all(this.#served.map((served) => served.close()));
    const stopRuns = () => {
      for (const run of this.#runs) run.abort('shutdown' satisfies StopReason);
    };
    const timer = setTimeout(stopRuns, graceMs);
    try {
      await closed;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Tries again while Redis is away, for as long as the lease is held: the end of a run is not lost to a restart. */
async function persist(write: () => Promise<unknown>, lost: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await write();
      return;
    } catch (error) {
      if (!isLaneError(error, 'store_unavailable') || lost.aborted) throw error;
    }
    await pause(recordPauseMs, undefined, { signal: lost }).catch(() => {});
  }
}
