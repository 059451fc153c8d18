/**
 * Namespaces are authorization: the name of a queue says who may consume it. This module holds the grammar, the fleet
 * predicate, the registry of what exists, grants, and the one check that every verb makes.
 */
import { LaneError } from './errors.ts';

declare const namespaceBrand: unique symbol;

/** A namespace that has passed the grammar. Only `parseNamespace` makes one. */
export type Namespace = string & { readonly [namespaceBrand]: true };

const grammar = /^(?:main|(?:lane|agent|broker):[a-z0-9][a-z0-9._-]{0,63})$/;

/**
 * Reads a namespace by the grammar `main`, `lane:<name>`, `agent:<id>`, `broker:<name>`, names
 * `[a-z0-9][a-z0-9._-]{0,63}`. It is an allowlist: a namespace `*` or one with a brace would reach other key prefixes.
 * @throws LaneError `unknown_namespace` for anything else.
 */
export function parseNamespace(text: string): Namespace {
  if (!grammar.test(text)) throw new LaneError('unknown_namespace', JSON.stringify(text.slice(0, 80)));
  return text as Namespace;
}

/** Where the App keeps pointers, deliveries and people's dispositions. */
export const intakeNamespace = parseNamespace('broker:intake');
/** Where effects without a task live, and what the broker remembers of each delivery to GitHub. */
export const githubNamespace = parseNamespace('broker:github');

/** Whether a namespace belongs to exactly one named drainer and is off limits to every other worker. */
export function isFleetQueue(namespace: Namespace): boolean {
  return namespace.startsWith('agent:') || namespace.startsWith('broker:');
}

/** The key prefix of a namespace. The braces make it one hash slot, so that no script can span two of them. */
export function keyPrefix(namespace: Namespace): string {
  return `lanes:{${namespace}}`;
}

/** The namespaces that exist. What it does not know is refused, never treated as open. */
export type Registry = ReadonlySet<Namespace>;

/** The registry of an installation: its lanes' namespaces, `main`, and the App's own two. */
export function makeRegistry(laneNamespaces: Iterable<Namespace>): Registry {
  return new Set([parseNamespace('main'), intakeNamespace, githubNamespace, ...laneNamespaces]);
}

const printable = /^[^\p{C}\p{Zl}\p{Zp}]{1,128}$/u;

/** Who acts: an identity and the namespaces granted to it. It comes from a credential, never from a request. */
export interface Caller {
  readonly identity: string;
  readonly namespaces: ReadonlySet<Namespace>;
}

/**
 * Makes a caller. Records and ledger keep an identity as one line of text.
 * @throws LaneError `identity_required` for one that is blank, longer than 128 characters or not printable.
 */
export function makeCaller(identity: string, namespaces: Iterable<Namespace>): Caller {
  if (identity.trim() === '' || !printable.test(identity))
    throw new LaneError('identity_required', JSON.stringify(identity.slice(0, 128)));
  return { identity, namespaces: new Set(namespaces) };
}

/**
 * The check at the head of every verb.
 * @throws LaneError `identity_required`, `unknown_namespace`, `fleet_queue_off_limits` or `namespace_not_granted`.
 */
export function authorize(registry: Registry, caller: Caller, namespace: Namespace): void {
  if (caller.identity.trim() === '') throw new LaneError('identity_required');
  if (!registry.has(namespace)) throw new LaneError('unknown_namespace', namespace);
  if (caller.namespaces.has(namespace)) return;
  const details = `${caller.identity} -> ${namespace}`;
  throw new LaneError(isFleetQueue(namespace) ? 'fleet_queue_off_limits' : 'namespace_not_granted', details);
}

/**
 * The namespaces that grant patterns reach. `*` at the end of a pattern matches any rest, but never reaches a fleet
 * namespace: those are granted by their full name only.
 * @throws LaneError `unknown_namespace` for a full name that the registry does not know.
 */
export function grantedNamespaces(patterns: readonly string[], registry: Registry): Namespace[] {
  const granted = new Set<Namespace>();
  for (const pattern of patterns) {
    if (pattern.endsWith('*')) {
      const start = pattern.slice(0, -1);
      for (const known of registry) if (!isFleetQueue(known) && known.startsWith(start)) granted.add(known);
      continue;
    }
    const namespace = parseNamespace(pattern);
    if (!registry.has(namespace)) throw new LaneError('unknown_namespace', namespace);
    granted.add(namespace);
  }
  return [...granted];
}
