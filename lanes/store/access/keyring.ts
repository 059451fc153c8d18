/**
 * The keyring: the passwords of this installation's Redis users, in `<data>/redis-users.json`. They are on the disk
 * before Redis hears of them, and Redis gets their hashes only.
 */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { LaneError } from '../../errors.ts';
import type { Namespace } from '../../namespaces.ts';
import { type Credentials, keyringSchema } from '../../records/access.ts';
import { lockFile } from './file-lock.ts';
import { parseUserName, type RedisUser, type UserRef, userName } from './rule.ts';
import { newPassword, readSecretFile, replaceSecretFile } from './secret-file.ts';

const lockWithinS = 10;

/** Where the keyring lies. */
export function keyringFile(dataDir: string): string {
  return join(dataDir, 'redis-users.json');
}

/**
 * The users of the keyring; none where it was not made yet.
 * @throws LaneError `invalid_config` where others can read it, or it is no keyring.
 */
export function readKeyring(dataDir: string): RedisUser[] {
  return Object.entries(readUsers(dataDir)).flatMap(([name, password]) => {
    const ref = parseUserName(name);
    return ref === null ? [] : [{ ...ref, name, password }];
  });
}

/**
 * Makes the keyring hold exactly these users: new ones get a password, known ones keep theirs, and the others' are
 * forgotten, so that a grant that comes back has a new one. Two at once wait for each other.
 * @throws LaneError `invalid_config`, `disk`, `store_unavailable`.
 */
export function syncKeyring(dataDir: string, wanted: readonly UserRef[]): RedisUser[] {
  return write(dataDir, wanted, () => false);
}

/** As `syncKeyring`, but others stay: nobody loses anything. Answers with the wanted ones. */
export function growKeyring(dataDir: string, wanted: readonly UserRef[]): RedisUser[] {
  const names = new Set(wanted.map(userName));
  return write(dataDir, wanted, () => true).filter(({ name }) => names.has(name));
}

function write(dataDir: string, wanted: readonly UserRef[], keeps: (name: string) => boolean): RedisUser[] {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = openSync(join(dataDir, 'redis-users.lock'), 'a', 0o600);
  try {
    lockFile(lock, lockWithinS, `${keyringFile(dataDir)} is being written by somebody else`);
    const known = readUsers(dataDir);
    const names = [...new Set([...Object.keys(known).filter(keeps), ...wanted.map(userName)])].sort();
    const users = Object.fromEntries(names.map((name) => [name, known[name] ?? newPassword()]));
    const text = `${JSON.stringify({ v: 1, users }, null, 2)}\n`;
    if (JSON.stringify(users) !== JSON.stringify(known)) replaceSecretFile(keyringFile(dataDir), text);
    return readKeyring(dataDir);
  } finally {
    closeSync(lock);
  }
}

/** The credentials of one identity: all of its namespaces. */
export function credentialsOf(users: readonly RedisUser[], identity: string): Credentials {
  const own = users.filter((user) => user.identity === identity);
  return Object.fromEntries(
    own.map(({ namespace, name, password }) => [namespace, { user: name, password }]),
  ) as Record<Namespace, { user: string; password: string }>;
}

function readUsers(dataDir: string): Record<string, string> {
  const file = keyringFile(dataDir);
  const text = readSecretFile(file);
  if (text === null) return {};
  try {
    return keyringSchema.parse(JSON.parse(text)).users;
  } catch {
    // Its own words could quote a password.
    throw new LaneError('invalid_config', `${file} is no keyring. Remove it: new passwords are made`);
  }
}
