/**
 * The engine's verbs, as app and workers see them. The caller comes first, always; every verb checks that the
 * namespace is the caller's. Beside what each one names, every verb throws LaneError `identity_required`,
 * `unknown_namespace`, `fleet_queue_off_limits`, `namespace_not_granted`, `store_refused`, and `store_unavailable` when
 * Redis does not answer in 5 s. After `store_unavailable` the same call may be made again: nothing happens twice.
 */
import type { Caller, Namespace } from './namespaces.ts';
import type { ServeOptions, Serving } from './queue/serve.ts';
import type { Actor, IssueRef } from './records/common.ts';
import type { LooseEffect, TaskEffect } from './records/effects.ts';
import type { Delivery, IssueRecord } from './records/issues.ts';
import type {
  ArchiveCursor,
  ArchivePage,
  RefusalBatch,
  RefusalCode,
  RefusalEvent,
} from './records/ledger.ts';
import type { Lease, RunEnd } from './records/runs.ts';
import type { NewTask, Task, TaskState } from './records/tasks.ts';
import type { AmendInput } from './rules/transitions/amend.ts';
import type { ParkInput, ResumeInput } from './rules/transitions/people.ts';
import type { SettleInput } from './rules/transitions/settle.ts';
import type { TakenDelivery } from './store/deliveries.ts';
import type { Delivered } from './store/effects.ts';
import type { LedgerEntry } from './store/ledger.ts';
import type { TaskCounts } from './store/listing.ts';
import type { ReadOptions } from './store/streams.ts';
import type { Claim } from './store/tasks.ts';

/** Who is behind a verb, where a person is. */
export interface ByPerson {
  readonly actor?: Actor | undefined;
}

export interface TaskVerbs {
  /** Makes the task, once by its id, then its wake-up. Answers with the task that is there. */
  admit(caller: Caller, task: NewTask): Promise<Task>;
  get(caller: Caller, ns: Namespace, task: string): Promise<Task | null>;
  /** Tasks by state. Without a namespace: of all that are the caller's, fleet namespaces left out. */
  count(caller: Caller, ns?: Namespace): Promise<TaskCounts>;
  /** Tasks in these states (live ones by default), at most 1,000 of each; scoped as `count`. */
  list(caller: Caller, ns?: Namespace, states?: readonly TaskState[]): Promise<Task[]>;
  /** Takes the next run of a queued task whose time has come. `nowMs` and `notBeforeMs` are by Redis's clock. */
  claim(caller: Caller, ns: Namespace, task: string): Promise<Claim>;
  /** The last look before the agent starts: whether the lease still holds. @throws LaneError `lease_lost`. */
  begin(caller: Caller, lease: Lease): Promise<void>;
  /**
   * Extends the lease. `progress`, where given, is kept beside the task until the run ends: one line, cut at 500
   * characters. @throws LaneError `lease_lost`.
   */
  renew(caller: Caller, lease: Lease, progress?: string): Promise<Lease>;
  /**
   * Records how the run ended: the one step that ends it, with verdicts, ledger event and effects. `task` is the record
   * as claimed; where it was amended meanwhile, it is read again. The same lease may ask twice: the answer is the same.
   * @throws LaneError `lease_lost`, `invalid_result`.
   */
  record(caller: Caller, lease: Lease, task: Task, end: RunEnd): Promise<Task>;
  /** Gives an unfinished run back: queued, to be run after `waitMs` (default 0), not counted. @throws LaneError `lease_lost`. */
  handBack(caller: Caller, lease: Lease, why: string, waitMs?: number): Promise<Task>;
  /** Parks a live task; its lease, if any, is lost. @throws LaneError `unknown_task`, `wrong_state`. */
  park(caller: Caller, ns: Namespace, task: string, input: ParkInput & ByPerson): Promise<Task>;
  /** Queues a parked task, with all its runs again. @throws LaneError `unknown_task`, `wrong_state`. */
  resume(caller: Caller, ns: Namespace, task: string, input: ResumeInput & ByPerson): Promise<Task>;
  /** Ends a live task; its lease, if any, is lost. @throws LaneError `unknown_task`, `wrong_state`. */
  cancel(caller: Caller, ns: Namespace, task: string, input: { reason: string } & ByPerson): Promise<Task>;
  /** Changes what is known of a live task. @throws LaneError `unknown_task`, `wrong_state`. */
  amend(caller: Caller, ns: Namespace, task: string, input: AmendInput & ByPerson): Promise<Task>;
  /**
   * Writes what the fresh look at a closing task found. @throws LaneError `unknown_task`, `wrong_state`, and
   * `task_conflict` for `complete` where the record's own gate does not close.
   */
  settle(caller: Caller, ns: Namespace, task: string, input: SettleInput & ByPerson): Promise<Task>;
}

/** How many tasks of a namespace may start now. */
export interface Pending {
  readonly namespace: Namespace;
  readonly tasks: number;
}

export type Claimed = Extract<Claim, { kind: 'claimed' }>;

/** Verbs on a namespace's turn, and on who has a task in hand. */
export interface TurnVerbs {
  /**
   * How many queued tasks may start now, by Redis's clock; none while paused. Without a namespace: a line for each of
   * the caller's, fleet namespaces left out.
   */
  pending(caller: Caller, ns?: Namespace): Promise<Pending[]>;
  /** Takes the next run of the queued task that is due first; null where there is none, or others were faster. */
  claimNext(caller: Caller, ns: Namespace): Promise<Claimed | null>;
  /**
   * Lets a queued task that waits after a death start now, and queues one that has used up its runs, with all of them
   * again. @throws LaneError `unknown_task`, `wrong_state`.
   */
  retry(caller: Caller, ns: Namespace, task: string, by?: ByPerson): Promise<Task>;
  /** Takes a running task out of its worker's hands: queued again, not counted. @throws LaneError `unknown_task`, `wrong_state`. */
  takeBack(caller: Caller, ns: Namespace, task: string, why: string): Promise<Task>;
  /** No claim succeeds from here on; runs in hand go on. */
  pause(caller: Caller, ns: Namespace): Promise<void>;
  /** Ends a pause; answers with the queued tasks whose wake-ups were used up meanwhile and that got new ones. */
  resumeNamespace(caller: Caller, ns: Namespace): Promise<Task[]>;
}

/** What a keeper's pass has changed. */
export interface Repaired {
  /** Running tasks whose lease had ended: queued again, or parked. */
  readonly expired: Task[];
  /** Queued tasks that had no wake-up and got one; none while the namespace is paused. */
  readonly woken: Task[];
  /** The lanes that have queued tasks; none while the namespace is paused. */
  readonly queuedLanes: ReadonlySet<string>;
  /** In how many ms the first lease of those that run now ends; undefined where none runs. */
  readonly nextEndInMs: number | undefined;
}

export interface Engine extends TaskVerbs, TurnVerbs {
  /** The keeper's work for one namespace; several at once do no harm. */
  repair(caller: Caller, ns: Namespace): Promise<Repaired>;
  /** Hands a lane's wake-ups to `onWake` until closed, under the caller's identity. */
  serve(caller: Caller, ns: Namespace, options: ServeOptions): Promise<Serving>;
  /** Effects of a namespace's tasks, in the order in which they were decided. */
  readonly effects: {
    read(
      caller: Caller,
      ns: Namespace,
      afterId: string,
      options: ReadOptions,
    ): Promise<Delivered<TaskEffect>[]>;
    ack(caller: Caller, ns: Namespace, id: string): Promise<void>;
  };
  /** Effects without a task, in `broker:github`. */
  readonly loose: {
    /** Adds it unless its key was used in the last 90 days; answers whether it was added. */
    add(caller: Caller, effect: LooseEffect): Promise<boolean>;
    read(caller: Caller, afterId: string, options: ReadOptions): Promise<Delivered<LooseEffect>[]>;
    ack(caller: Caller, id: string): Promise<void>;
  };
  /** What the broker remembers of an effect under delivery, for 30 days, in `broker:github`. */
  readonly intents: {
    get(caller: Caller, key: string): Promise<unknown>;
    put(caller: Caller, key: string, value: unknown): Promise<void>;
  };
  /** The one drainer of `broker:github`. */
  readonly drainer: {
    /** Takes the place for `ttlMs`, or keeps it, unless another holder has it; answers whether it is the holder's. */
    take(caller: Caller, holder: string, ttlMs: number): Promise<boolean>;
    /** Frees the place if it is the holder's. */
    leave(caller: Caller, holder: string): Promise<void>;
  };
  /** What the App keeps of an issue, in `broker:intake`. */
  readonly issues: {
    get(caller: Caller, repositoryId: number, number: number): Promise<IssueRecord | null>;
    /**
     * Changes a record (a blank one where nothing is) by a pure function, which may run more than once; null leaves it.
     * @throws LaneError `task_conflict` where others kept writing first.
     */
    update(
      caller: Caller,
      issue: IssueRef,
      change: (record: IssueRecord) => IssueRecord | null,
    ): Promise<IssueRecord>;
    /** The records of issues with this number, in the repository of this name or in all. */
    find(caller: Caller, number: number, repository?: string): Promise<IssueRecord[]>;
    /** The records that point at a live task. */
    live(caller: Caller): Promise<IssueRecord[]>;
  };
  /** Webhook deliveries, in `broker:intake`. */
  readonly deliveries: {
    /** Durable once answered. A GUID is remembered for 8 days. */
    record(caller: Caller, delivery: Delivery): Promise<'recorded' | 'duplicate'>;
    /** New ones, or ones that nobody finished in 60 s; waits up to `blockMs` for the first. */
    take(caller: Caller, options: { count: number; blockMs: number }): Promise<TakenDelivery[]>;
    done(caller: Caller, id: string): Promise<void>;
    /** Notes a failure: handed out again later, set aside after the fifth time. */
    failed(caller: Caller, id: string, why: string): Promise<'again' | 'set_aside'>;
    /** Those that were set aside, oldest first. */
    dead(caller: Caller, count: number): Promise<{ id: string; why: string; delivery: Delivery }[]>;
  };
  /** Refused verbs of every namespace, in `broker:intake`. */
  readonly refusals: {
    /** Keeps the events, until they are archived, and adds to the counts. It is not heard by `onRefusal` itself. */
    record(caller: Caller, batch: RefusalBatch): Promise<void>;
    /** The newest ones, newest first, at most 10,000. */
    read(caller: Caller, count: number): Promise<RefusalEvent[]>;
    /** How many there were ever, by code. */
    counts(caller: Caller): Promise<Partial<Record<RefusalCode, number>>>;
    /** As `ledger.page` and `ledger.trim`. */
    page(caller: Caller, after: ArchiveCursor | null, count: number): Promise<ArchivePage>;
    trim(caller: Caller, upTo: ArchiveCursor): Promise<number>;
  };
  readonly ledger: {
    /** Events after `afterId` (`0` for all that Redis keeps), oldest first. */
    read(caller: Caller, ns: Namespace, afterId: string, count: number): Promise<LedgerEntry[]>;
    /**
     * The events of up to `count` entries (2 to 1,000), for an archive that ends with `after`: from that entry on, which
     * comes again, or from the first one where the store is another one than `after` was of.
     */
    page(caller: Caller, ns: Namespace, after: ArchiveCursor | null, count: number): Promise<ArchivePage>;
    /**
     * Drops entries up to `upTo`, which are archived, but for the newest 10,000 of the stream; at most 1,000 a call, and
     * none of another store than `upTo` is of. Answers how many went.
     */
    trim(caller: Caller, ns: Namespace, upTo: ArchiveCursor): Promise<number>;
  };
  /** Closes every serving, then every connection. */
  close(): Promise<void>;
}
