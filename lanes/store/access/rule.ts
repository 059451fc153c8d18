/**
 * Redis users: their names, and the one rule line that keeps a user inside a namespace. It stands behind every check of
 * ours: where one of them is broken, Redis still refuses.
 */
import { createHash } from 'node:crypto';
import { LaneError } from '../../errors.ts';
import { keyPrefix, type Namespace, parseNamespace } from '../../namespaces.ts';

/** Who acts in every namespace: the App itself. */
export const appIdentity = 'app';

/** A user: one namespace, for one identity, so that one worker's grant can be taken away alone. */
export interface UserRef {
  readonly namespace: Namespace;
  readonly identity: string;
}

export interface RedisUser extends UserRef {
  readonly name: string;
  readonly password: string;
}

/** The names a worker may have: they stand in Redis's configuration, where a space or a line's end would be a rule. */
const identities = /^[\w.:@-]{1,100}$/;
const ours = /^(?:main|(?:lane|agent|broker):[a-z0-9._-]+)@/;

/**
 * `<namespace>@<identity>`.
 * @throws LaneError `unknown_namespace`, or `invalid_config` for a name that Redis's configuration cannot hold.
 */
export function userName({ namespace, identity }: UserRef): string {
  if (!identities.test(identity)) {
    const name = JSON.stringify(identity.slice(0, 100));
    throw new LaneError('invalid_config', `${name}: a worker's name has letters, digits and _ . : @ - only`);
  }
  return `${parseNamespace(namespace)}@${identity}`;
}

/** Reads a user's name; null for one that is not ours. */
export function parseUserName(name: string): UserRef | null {
  if (!isOurUser(name)) return null;
  const at = name.indexOf('@');
  return { namespace: parseNamespace(name.slice(0, at)), identity: name.slice(at + 1) };
}

/** Whether a Redis user is one of ours by its name. No other is ever touched. */
export function isOurUser(name: string): boolean {
  return ours.test(name);
}

/** How Redis is told of a password: never the password itself. */
export function passwordHash(password: string): string {
  return `#${createHash('sha256').update(password).digest('hex')}`;
}

/**
 * What a user may do: read and write data under the namespace's prefix, run scripts (whose commands Redis checks one by
 * one), and what BullMQ says when it connects. No look at keys by pattern, no functions, no channels, no script cache
 * of others, nothing that Redis counts as dangerous. Measured with BullMQ 6.7.0; the test of commands tells when a
 * newer one needs more. `db` is the logical database, where it is not the first.
 */
export function ruleFor(namespace: Namespace, db: number): string[] {
  const data = ['-@all', '+@read', '+@write', '-@dangerous', '-scan', '-randomkey', '-dbsize', '-lolwut'];
  const scripts = ['-@scripting', '+eval', '+evalsha', '+multi', '+exec'];
  const connection = ['+info', '+time', '+ping', '+client|setname', ...(db === 0 ? [] : [`+select|${db}`])];
  const keys = ['resetkeys', `~${keyPrefix(parseNamespace(namespace))}:*`, 'resetchannels'];
  return [...keys, ...data, ...scripts, ...connection];
}
