/**
 * Provisioning: Redis's users as the installation wants them. Each command is whole in itself and says what must be,
 * not what changes, so that it can be given again at any time, by several at once.
 */
import type { Redis } from 'ioredis';
import { ask, toLaneError } from '../answers.ts';
import { isOurUser, passwordHash, type RedisUser, ruleFor } from './rule.ts';

export interface ProvisionOptions {
  /** The logical database that the namespaces lie in. */
  readonly db: number;
  /** Whether a user of ours that is not wanted goes; its live connections die. */
  removes(name: string): boolean;
  /**
   * Takes away passwords that are not of this keyring. Another App on this Redis has a keyring of its own: until it
   * sees to its users again, it cannot log in.
   */
  readonly onlyOurPasswords: boolean;
}

/** Names of users. */
export interface Provisioned {
  readonly made: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/**
 * Sees to it that Redis has these users, each with its rule and its password. Users that are not ours by their names
 * are left alone.
 * @throws LaneError `store_unavailable`, or `store_refused` where this connection's user may not do that.
 */
export async function provision(
  admin: Redis,
  users: readonly RedisUser[],
  options: ProvisionOptions,
): Promise<Provisioned> {
  const before = await listUsers(admin);
  const wanted = new Set(users.map(({ name }) => name));
  const revoked = [...before.keys()].filter(
    (name) => isOurUser(name) && !wanted.has(name) && options.removes(name),
  );
  await ask(admin, async () => {
    await Promise.all(
      users.map((user) => admin.call('ACL', 'SETUSER', user.name, ...settings(user, before, options))),
    );
    if (revoked.length > 0) await admin.call('ACL', 'DELUSER', ...revoked);
  });
  const after = await listUsers(admin);
  const differing = users.map(({ name }) => name).filter((name) => before.get(name) !== after.get(name));
  const did = {
    made: differing.filter((name) => !before.has(name)),
    changed: differing.filter((name) => before.has(name)),
    removed: revoked.filter((name) => !after.has(name)),
  };
  if (isChange(did)) await saveUsers(admin);
  return did;
}

/** Whether anything had to be done. */
export function isChange({ made, changed, removed }: Provisioned): boolean {
  return made.length + changed.length + removed.length > 0;
}

function settings(
  { name, namespace, password }: RedisUser,
  before: ReadonlyMap<string, string>,
  { db, onlyOurPasswords }: ProvisionOptions,
): string[] {
  // Selectors came with Redis 7: an older one does not know the word, and has none to clear.
  const selectors = before.get(name)?.includes('(') ? ['clearselectors'] : [];
  const passwords = onlyOurPasswords ? ['resetpass'] : [];
  return ['on', ...passwords, passwordHash(password), ...selectors, ...ruleFor(namespace, db)];
}

/** User name -> its line as Redis prints it. The same rule gives the same line. */
async function listUsers(admin: Redis): Promise<Map<string, string>> {
  const lines = await ask(admin, () => admin.call('ACL', 'LIST') as Promise<string[]>);
  return new Map(lines.map((line) => [line.split(' ')[1] ?? '', line]));
}

/**
 * Writes the users into Redis's aclfile, where it has one.
 * @returns whether it has.
 */
export async function saveUsers(admin: Redis): Promise<boolean> {
  try {
    await ask(admin, () => admin.call('ACL', 'SAVE'));
    return true;
  } catch (error) {
    if (error instanceof Error && error.message.includes('not configured to use an ACL file')) return false;
    throw toLaneError(error);
  }
}
