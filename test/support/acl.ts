/** Users of Redis for tests, each with the rule that a namespace's user has. */
import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Namespace } from '../../lanes/namespaces.ts';
import { passwordHash, ruleFor } from '../../lanes/store/access/rule.ts';

export interface User {
  readonly username: string;
  readonly password: string;
}

/** Makes the user of a namespace: nothing but the keys under its prefix. */
export async function makeUser(admin: Redis, ns: Namespace): Promise<User> {
  const user = { username: ns, password: randomBytes(16).toString('hex') };
  await grantUser(admin, user, ns);
  return user;
}

/** Makes this user, or gives it its rights again. */
export async function grantUser(admin: Redis, { username, password }: User, ns: Namespace): Promise<void> {
  await admin.call('ACL', 'SETUSER', username, 'reset', 'on', passwordHash(password), ...ruleFor(ns, 0));
}
