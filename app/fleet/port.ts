/** What the fleet API stands on: verbs of the engine, the App's host port, grants, and the outbox. */
import type { Logger } from 'pino';
import type {
  Caller,
  Engine,
  HostPort,
  Lane,
  Lease,
  Namespace,
  RefusalEvent,
  RunInput,
  Uploads,
} from '../../lanes/index.ts';
import type { LeaseTexts } from './lease-text.ts';
import type { TokenCheck } from './token-check.ts';

type FleetEngine = Pick<
  Engine,
  'pending' | 'claimNext' | 'get' | 'begin' | 'renew' | 'record' | 'handBack' | 'takeBack'
>;

/** The App's side of the host port, as boxes need it. */
export interface FleetHost extends HostPort {
  mayBegin(
    lease: Lease,
  ): Promise<
    | { readonly allowed: true; readonly input: Omit<RunInput, 'clone'> }
    | { readonly allowed: false; readonly why: string }
  >;
  /** @throws LaneError `lease_lost`. */
  checkout(lease: Lease): Promise<RunInput['clone']>;
}

export interface FleetDeps {
  readonly engine: FleetEngine;
  /** The App as a caller in one namespace. */
  readonly appCaller: (namespace: Namespace) => Caller;
  readonly host: FleetHost;
  readonly lanes: readonly Lane[];
  /** Worker -> what it may consume. */
  readonly grants: ReadonlyMap<string, readonly Namespace[]>;
  /** Whether it is served although there is no token. */
  readonly expectsBoxes: boolean;
  readonly tokens: TokenCheck;
  readonly leases: LeaseTexts;
  readonly uploads: Uploads;
  /** Hears of a call that was refused before the engine heard of it; the engine tells of its own refusals. */
  readonly refused: (refusal: RefusalEvent) => void;
  readonly log: Pick<Logger, 'warn' | 'error'>;
  /** How long a claim holds without a heartbeat, in ms. */
  readonly leaseTtlMs: number;
  /** How often a box is asked to send one, in ms. */
  readonly heartbeatEveryMs: number;
  /** How often a claim that waits looks again, in ms. */
  readonly lookEveryMs: number;
}
