/**
 * The guard: users that get lost while we run - Redis started again without an aclfile, ACL LOAD, DELUSER by hand - are
 * made again. Until then verbs are refused; connections find their user again by themselves, and nothing is lost.
 */
import type { Redis } from 'ioredis';
import { isChange, type Provisioned, provision } from './provision.ts';
import type { RedisUser } from './rule.ts';

export interface GuardOptions {
  /** The superuser's connection: it provisions and does nothing else. */
  readonly admin: Redis;
  readonly db: number;
  /** The users as the keyring has them now: another command may have changed it. */
  users(): readonly RedisUser[];
  /** Hears of users that were lost or changed, and are right again. */
  onMended(did: Provisioned): void;
  onTrouble(error: Error): void;
  /** Default 15 s. */
  readonly everyMs?: number;
}

const defaultEveryMs = 15_000;

/** Looks whenever the connection is made anew, and every 15 s. */
export function guardUsers(options: GuardOptions): { stop(): Promise<void> } {
  const { admin, db } = options;
  // Only what was of this keyring is revoked by leaving it: another App on this Redis may have users of its own.
  const seen = new Set<string>();
  const mode = { db, removes: (name: string) => seen.has(name), onlyOurPasswords: false };
  let looking: Promise<void> | undefined;

  const look = async (): Promise<void> => {
    try {
      const users = options.users();
      for (const { name } of users) seen.add(name);
      const did = await provision(admin, users, mode);
      if (isChange(did)) options.onMended(did);
    } catch (error) {
      options.onTrouble(error instanceof Error ? error : new Error(String(error)));
    }
    looking = undefined;
  };
  const lookOnce = (): void => {
    // Away: there is a look when it is back.
    if (admin.status === 'ready') looking ??= look();
  };

  admin.on('ready', lookOnce);
  const timer = setInterval(lookOnce, options.everyMs ?? defaultEveryMs).unref();
  return {
    async stop() {
      clearInterval(timer);
      admin.off('ready', lookOnce);
      await looking;
      admin.disconnect();
    },
  };
}
