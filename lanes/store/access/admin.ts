/**
 * The admin user: the superuser of a Redis whose `default` is off. It provisions, and is nobody's connection for work.
 */
import type { Redis } from 'ioredis';
import { LaneError } from '../../errors.ts';
import { ask, toLaneError } from '../answers.ts';
import { openRedis } from '../connect.ts';
import { saveUsers } from './provision.ts';
import { passwordHash } from './rule.ts';

export const adminUser = 'lanes-admin';

/** What the admin user may do. */
export function adminRule(password: string): string[] {
  return ['on', passwordHash(password), '~*', '&*', '+@all'];
}

/** The address of a Redis with the admin user's credential: for connections and 0600 files only. */
export function adminUrl(address: string, password: string): string {
  const url = new URL(address);
  url.username = adminUser;
  url.password = encodeURIComponent(password);
  return url.href;
}

/**
 * Turns `default` off, after the admin user has shown on a fresh connection that it can do the superuser's work. What
 * is connected as `default` is cut off.
 * @param url of the admin user, whose password is stored already
 * @returns whether it outlasts a restart, in an aclfile
 * @throws LaneError `store_refused` where the admin user does not work: `default` is as it was.
 */
export async function lockDefault(superuser: Redis, url: string): Promise<boolean> {
  const password = decodeURIComponent(new URL(url).password);
  await ask(superuser, () => superuser.call('ACL', 'SETUSER', adminUser, 'reset', ...adminRule(password)));
  const fresh = openRedis(url);
  try {
    await proveAdmin(fresh);
    await ask(fresh, () => fresh.call('ACL', 'SETUSER', 'default', 'off'));
    await ask(fresh, () => fresh.call('CLIENT', 'KILL', 'USER', 'default'));
    return await saveUsers(fresh);
  } finally {
    fresh.disconnect();
  }
}

async function proveAdmin(fresh: Redis): Promise<void> {
  try {
    const me = await ask(fresh, () => fresh.call('ACL', 'WHOAMI'));
    if (me !== adminUser) throw new LaneError('store_refused', `logged in as ${String(me)}`);
    // The very commands that it is needed for, saying what is so already.
    await ask(fresh, () => fresh.call('ACL', 'SETUSER', adminUser, 'on'));
    await ask(fresh, () => fresh.call('ACL', 'LIST'));
  } catch (error) {
    const why = `${adminUser} does not work here, so default stays on: ${toLaneError(error).message}`;
    throw new LaneError('store_refused', why, { cause: error });
  }
}
