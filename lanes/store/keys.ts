/** Every key of a namespace. All begin with its prefix, so that no script can reach into another one. */
import { keyPrefix, type Namespace } from '../namespaces.ts';

/** The namespace's stamp, minted with its first task. A wiped store mints another. */
export const epochKey = (ns: Namespace): string => `${keyPrefix(ns)}:epoch`;
export const taskKey = (ns: Namespace, task: string): string => `${keyPrefix(ns)}:task:${task}`;
/** Every task in one sorted set, by state and then by time: one write moves it, and it is never in two places. */
export const statesKey = (ns: Namespace): string => `${keyPrefix(ns)}:states`;
/** There while the namespace is paused; holds who paused it. */
export const pausedKey = (ns: Namespace): string => `${keyPrefix(ns)}:paused`;
export const effectsKey = (ns: Namespace): string => `${keyPrefix(ns)}:effects`;
export const ledgerKey = (ns: Namespace): string => `${keyPrefix(ns)}:ledger`;
/** Marks a loose effect's key as used. */
export const onceKey = (ns: Namespace, key: string): string => `${keyPrefix(ns)}:once:${key}`;
export const intentKey = (ns: Namespace, key: string): string => `${keyPrefix(ns)}:intent:${key}`;
/** Who drains a fleet namespace now. */
export const drainerKey = (ns: Namespace): string => `${keyPrefix(ns)}:drainer`;
/** Refused verbs, of every namespace. */
export const refusalsKey = (ns: Namespace): string => `${keyPrefix(ns)}:refusals`;
/** How many there were, by code. */
export const refusalCountsKey = (ns: Namespace): string => `${keyPrefix(ns)}:refusals:counts`;
export const issueKey = (ns: Namespace, issue: string): string => `${keyPrefix(ns)}:issue:${issue}`;
/** Repository names, in lower case, as last seen -> their ids: for people who ask by name. */
export const repositoriesKey = (ns: Namespace): string => `${keyPrefix(ns)}:repositories`;
/** The issues that have a pointer to a live task. */
export const liveIssuesKey = (ns: Namespace): string => `${keyPrefix(ns)}:issues:live`;
export const deliveriesKey = (ns: Namespace): string => `${keyPrefix(ns)}:deliveries`;
export const deadDeliveriesKey = (ns: Namespace): string => `${keyPrefix(ns)}:deliveries:dead`;
export const guidKey = (ns: Namespace, guid: string): string => `${keyPrefix(ns)}:guid:${guid}`;
