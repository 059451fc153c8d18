/**
 * What the App's conversation with GitHub stands on: the engine's verbs, GitHub's calls, the operator's lanes, and
 * clock, ids and hashes. Hooks, broker, keeper, scan and host port share it, and each asks it anew for what it decides
 * on.
 */
import type { Caller, Engine, Lane, Namespace, ReadCriterion, Task } from '../../../lanes/index.ts';
import type { Outcome } from '../../broker/note/index.ts';
import type { AppIdentity, GitHub } from '../../github/index.ts';

/** What the bounded parse of a body gives. */
export type BodyOutcome =
  | {
      readonly kind: 'read';
      readonly reading: {
        readonly criteria: readonly ReadCriterion[];
        readonly placeholders?: readonly string[];
        readonly fallbackTasklist?: readonly string[];
      };
    }
  | { readonly kind: 'unreadable'; readonly why: string };

/** The verbs of the engine that the desk uses. */
export type DeskEngine = Pick<Engine, 'admit' | 'get' | 'park' | 'resume' | 'cancel' | 'amend' | 'issues'> & {
  readonly loose: Pick<Engine['loose'], 'add'>;
  readonly intents: Engine['intents'];
};

/** A line of the log: what, and with which particulars. Never a secret. */
export type Log = (
  level: 'info' | 'warn' | 'error',
  message: string,
  particulars?: Record<string, unknown>,
) => void;

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
  /** The short comment that answers commands. */
  readonly answer: (outcomes: readonly Outcome[], task: Task | null) => string;
  /** sha256 in hexadecimal. */
  readonly hash: (text: string) => string;
  /** A fresh task id. */
  readonly id: () => string;
  /** Our clock, Unix milliseconds. */
  readonly now: () => number;
  readonly log: Log;
}
