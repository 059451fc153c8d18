/**
 * What the App's conversation with GitHub stands on: the engine's verbs, GitHub's calls, the operator's lanes, and
 * clock, ids and hashes. Hooks, broker, keeper, scan and host port share it, and each asks it anew for what it decides
 * on.
 */
import type { Caller, Namespace } from '../../../lanes/namespaces.ts';
import type { Actor, IssueRef } from '../../../lanes/records/common.ts';
import type { Lane } from '../../../lanes/records/config.ts';
import type { Criterion } from '../../../lanes/records/criteria.ts';
import type { Disposition } from '../../../lanes/records/dispositions.ts';
import type { LooseEffect } from '../../../lanes/records/effects.ts';
import type { IssueRecord } from '../../../lanes/records/issues.ts';
import type { NewTask, ParkReason, Task } from '../../../lanes/records/tasks.ts';
import type { AppIdentity, GitHub } from '../../github/index.ts';

/** One acceptance item as it stands in a body, before it has an id. */
export type ReadItem = Pick<
  Criterion,
  'text' | 'checked' | 'checkbox' | 'depth' | 'label' | 'group' | 'detail'
>;

/** What the bounded parse of a body gives. */
export type BodyOutcome =
  | {
      readonly kind: 'read';
      readonly reading: {
        readonly criteria: readonly ReadItem[];
        readonly placeholders?: readonly string[];
        readonly fallbackTasklist?: readonly string[];
      };
    }
  | { readonly kind: 'unreadable'; readonly why: string };

/** The person behind an act of the App, where there is one. */
interface ByPerson {
  readonly actor?: Actor | undefined;
}

export interface Amendment extends ByPerson {
  readonly criteria?: readonly Criterion[] | undefined;
  readonly dispositions?: Readonly<Record<string, Disposition | null>> | undefined;
  readonly proposals?: readonly Disposition[] | undefined;
}

/** The verbs of the engine that the desk uses. */
export interface DeskEngine {
  admit(caller: Caller, task: NewTask): Promise<Task>;
  get(caller: Caller, namespace: Namespace, id: string): Promise<Task | null>;
  park(
    caller: Caller,
    namespace: Namespace,
    id: string,
    input: ByPerson & { readonly reason: ParkReason; readonly detail: string },
  ): Promise<Task>;
  resume(
    caller: Caller,
    namespace: Namespace,
    id: string,
    input: ByPerson & {
      readonly answer?: string | undefined;
      readonly criteria?: readonly Criterion[] | undefined;
      readonly approvedBodyHash?: string | undefined;
    },
  ): Promise<Task>;
  cancel(
    caller: Caller,
    namespace: Namespace,
    id: string,
    input: ByPerson & { readonly reason: string },
  ): Promise<Task>;
  amend(caller: Caller, namespace: Namespace, id: string, input: Amendment): Promise<Task>;
  readonly issues: {
    get(caller: Caller, repositoryId: number, number: number): Promise<IssueRecord | null>;
    /** Compare-and-set: `change` may be asked again; null leaves the record as it is. */
    update(
      caller: Caller,
      ref: IssueRef,
      change: (record: IssueRecord) => IssueRecord | null,
    ): Promise<IssueRecord>;
    live(caller: Caller): Promise<IssueRecord[]>;
  };
  readonly loose: { add(caller: Caller, effect: LooseEffect): Promise<unknown> };
}

/** A line of the log: what, and with which particulars. Never a secret. */
export type Log = (level: 'info' | 'warn' | 'error', message: string, particulars?: Record<string, unknown>) => void;

export interface Desk {
  readonly engine: DeskEngine;
  /** The App as a caller in one namespace, with that namespace's own credential. */
  readonly caller: (namespace: Namespace) => Caller;
  readonly github: GitHub;
  readonly app: AppIdentity;
  /** The operator's lanes. */
  readonly lanes: readonly Lane[];
  /** Whether the operator's file lists this repository. */
  readonly listed: (repository: string) => boolean;
  /** Reads criteria out of a body, bounded and outside the main thread. */
  readonly readBody: (body: string) => Promise<BodyOutcome>;
  /** sha256 in hexadecimal. */
  readonly hash: (text: string) => string;
  /** A fresh task id. */
  readonly id: () => string;
  /** Our clock, Unix milliseconds. */
  readonly now: () => number;
  readonly log: Log;
}
