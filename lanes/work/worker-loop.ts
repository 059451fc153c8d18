/**
 * The worker's loop: serves every namespace that the worker is granted. A wake-up leads to a claim, a claim to a run,
 * a run to a record; the lease is held from the claim to the record, by the one renewer.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { isLaneError, LaneError } from '../errors.ts';
import type { Caller, Namespace } from '../namespaces.ts';
import type { Lane } from '../records/config.ts';
import type { Lease, RunEnd } from '../records/runs.ts';
import type { Task, TaskState } from '../records/tasks.ts';
import { LaneSlots } from './lane-slots.ts';
import type { RunOrder, RunOutcome, StopReason } from './run-room.ts';

/** What a wake-up gives to hold a lease with. The signal aborts once the lease is lost. */
export interface WakeHold {
  keep(lease: Lease): { readonly signal: AbortSignal; stop(): void };
}

export type Claim =
  | { readonly kind: 'claimed'; readonly task: Task; readonly lease: Lease }
  | { readonly kind: 'not_claimable'; readonly state: TaskState | 'missing'; readonly notBeforeMs: number };

/** What the loop needs of the engine. */
export interface WorkerEngine {
  get(caller: Caller, ns: Namespace, task: string): Promise<Task | null>;
  claim(caller: Caller, ns: Namespace, task: string): Promise<Claim>;
  record(caller: Caller, lease: Lease, task: Task, end: RunEnd): Promise<Task>;
  handBack(caller: Caller, lease: Lease, why: string, waitMs?: number): Promise<Task>;
  serve(
    caller: Caller,
    ns: Namespace,
    options: {
      readonly concurrency: number;
      onWake(task: string, hold: WakeHold): Promise<void>;
      onTrouble(error: Error): void;
    },
  ): Promise<{ close(): Promise<void> }>;
}

export interface WorkerOptions {
  readonly engine: WorkerEngine;
  readonly caller: Caller;
  /** The lanes of this installation; those in namespaces that the caller is granted are served. */
  readonly lanes: readonly Lane[];
  readonly supervise: (order: RunOrder) => Promise<RunOutcome>;
  /** Hears of what went wrong around runs: for the log. */
  readonly onTrouble: (error: Error) => void;
}

export interface RunningWorker {
  /**
   * Takes no more runs, lets those in hand finish for `graceMs`, then stops them: their work is captured, and they are
   * handed back. Resolves when nothing is left running.
   */
  close(graceMs: number): Promise<void>;
}

const nothing = () => {};

/** How long a task waits that could not be begun because GitHub or the App could not be asked. */
const askAgainMs = 60_000;

/** How long a record waits before it is tried again while Redis is away. The lease bounds how often. */
const recordPauseMs = 500;

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
  readonly #servings: { close(): Promise<void> }[] = [];
  readonly #runs = new Set<AbortController>();
  #closing = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  async serve(namespace: Namespace, lanes: readonly Lane[]): Promise<void> {
    const { engine, caller, onTrouble } = this.#options;
    const slots = new LaneSlots(lanes);
    const onWake = async (task: string, hold: WakeHold) => {
      const lane = await this.#laneOf(namespace, lanes, task);
      const free = lane === undefined ? nothing : slots.take(lane.name);
      // A full lane leaves the task queued: waiting here would hold the room of the other lanes. The keeper wakes it.
      if (free === null || this.#closing) return;
      try {
        await this.#run(namespace, task, lanes, hold);
      } finally {
        free();
      }
    };
    const { concurrency } = slots;
    this.#servings.push(await engine.serve(caller, namespace, { concurrency, onWake, onTrouble }));
  }

  /** Lanes that share a namespace share its wake-ups: which lane one is for stands in the task. */
  async #laneOf(namespace: Namespace, lanes: readonly Lane[], id: string): Promise<Lane | undefined> {
    if (lanes.length === 1) return lanes[0];
    const task = await this.#options.engine.get(this.#options.caller, namespace, id);
    return lanes.find(({ name }) => name === task?.lane);
  }

  async #run(namespace: Namespace, id: string, lanes: readonly Lane[], hold: WakeHold): Promise<void> {
    const { engine, caller } = this.#options;
    const claim = await engine.claim(caller, namespace, id);
    if (claim.kind === 'not_claimable') return;
    const { task, lease } = claim;
    const kept = hold.keep(lease);
    const run = new AbortController();
    const lose = () => run.abort('lease_lost' satisfies StopReason);
    kept.signal.addEventListener('abort', lose, { once: true });
    this.#runs.add(run);
    if (this.#closing) run.abort('shutdown' satisfies StopReason);
    try {
      const lane = lanes.find(({ name }) => name === task.lane);
      const outcome =
        lane === undefined
          ? unknownLane(task)
          : await this.#options.supervise({ task, lease, lane, signal: run.signal });
      await this.#settle(task, lease, outcome, kept.signal);
    } finally {
      kept.stop();
      kept.signal.removeEventListener('abort', lose);
      this.#runs.delete(run);
    }
  }

  async #settle(task: Task, lease: Lease, outcome: RunOutcome, lost: AbortSignal): Promise<void> {
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
  async #giveBack(lease: Lease, why: StopReason, lost: AbortSignal): Promise<void> {
    const { engine, caller } = this.#options;
    if (why === 'shutdown') {
      await persist(() => engine.handBack(caller, lease, 'the worker was shut down'), lost);
    } else if (why === 'app_unreachable') {
      await persist(() => engine.handBack(caller, lease, 'GitHub could not be asked', askAgainMs), lost);
    }
  }

  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    const closed = Promise.all(this.#servings.map((serving) => serving.close()));
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

/** A worker that does not know a task's lane cannot run it, and no retry changes that. */
function unknownLane(task: Task): RunEnd {
  const detail = `this worker's configuration has no lane ${task.lane} in this namespace`;
  return { kind: 'unable', reason: 'agent_unavailable', detail };
}
