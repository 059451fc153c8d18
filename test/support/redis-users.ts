/** Namespace users in a test's Redis, made as the product makes them. */
import { makeRegistry, type Namespace, parseNamespace } from '../../lanes/namespaces.ts';
import type { Credentials } from '../../lanes/records/access.ts';
import { credentialsOf } from '../../lanes/store/access/keyring.ts';
import { provision } from '../../lanes/store/access/provision.ts';
import { passwordHash, type RedisUser, ruleFor, userName } from '../../lanes/store/access/rule.ts';
import { newPassword } from '../../lanes/store/access/secret-file.ts';
import { type Credential, databaseOf, openRedis } from '../../lanes/store/connect.ts';

/** What start does to a Redis that it finds: all of ours that is not wanted goes. */
export const settle = { db: 0, removes: () => true, onlyOurPasswords: false } as const;

const testIdentity = 'test';
const testPassword = 'a password that is no secret at all';
const tested = makeRegistry(['lane:triage', 'agent:42'].map(parseNamespace));

/** How tests log in to a namespace. */
export function testCredential(namespace: Namespace): Credential {
  return { username: userName({ namespace, identity: testIdentity }), password: testPassword };
}

/** An aclfile with the test's users, for Redis to begin with. */
export function aclLines(): string[] {
  const rules = [...tested].map((namespace) => {
    const rule = ['on', passwordHash(testPassword), ...ruleFor(namespace, 0)].join(' ');
    return `user ${userName({ namespace, identity: testIdentity })} ${rule}`;
  });
  return ['user default on nopass ~* &* +@all', ...rules];
}

/** The same in a Redis that runs. */
export async function provisionTestUsers(url: string): Promise<void> {
  const users = makeUsers(testIdentity, [...tested], testPassword);
  const admin = openRedis(url);
  await provision(admin, users, { ...settle, db: databaseOf(url), removes: () => false });
  admin.disconnect();
}

export function makeUsers(
  identity: string,
  namespaces: readonly Namespace[],
  password: string = newPassword(),
): RedisUser[] {
  return namespaces.map((namespace) => {
    const ref = { namespace, identity };
    return { ...ref, name: userName(ref), password };
  });
}

/** Makes users beside those that are there, and gives their credentials. */
export async function credentialsIn(
  url: string,
  identity: string,
  namespaces: readonly Namespace[],
): Promise<Credentials> {
  const users = makeUsers(identity, namespaces);
  const admin = openRedis(url);
  await provision(admin, users, { ...settle, db: databaseOf(url), removes: () => false });
  admin.disconnect();
  return credentialsOf(users, identity);
}
