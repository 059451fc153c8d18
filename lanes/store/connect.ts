/**
 * Connections to Redis. A verb's connection never queues and never sends twice: what was not answered is an error for
 * the caller, who decides again. BullMQ's connection may do both.
 */
import { Redis, type RedisOptions } from 'ioredis';
import { LaneError } from '../errors.ts';
import { toLaneError } from './answers.ts';

const reconnectMs = (attempt: number): number => Math.min(attempt * 100, 1_000);

const forVerbs: RedisOptions = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  enableAutoPipelining: false,
  retryStrategy: reconnectMs,
  connectTimeout: 5_000,
};

/** BullMQ must be able to wait for Redis, and what it sends may be sent again: a wake-up is only a wake-up. */
const forQueue: RedisOptions = {
  enableOfflineQueue: true,
  autoResendUnfulfilledCommands: true,
  maxRetriesPerRequest: null,
  enableAutoPipelining: false,
};

export interface Credential {
  readonly username: string;
  readonly password: string;
}

/** Opens a connection for verbs, as `createEngine` needs it: one per namespace, with that namespace's credential. */
export function openRedis(url: string, credential?: Credential): Redis {
  return quiet(new Redis(url, { ...forVerbs, ...credential }));
}

/** A second connection with the same credential, for reads that block: they must not hold up the verbs. */
export function openBlocking(redis: Redis): Redis {
  return quiet(redis.duplicate({ enableAutoPipelining: false }));
}

/** A second connection with the same credential, for BullMQ. */
export function openForQueue(redis: Redis): Redis {
  return quiet(redis.duplicate(forQueue));
}

/** Without a listener ioredis prints every failed attempt to reconnect; a verb that cannot go on says so itself. */
function quiet(redis: Redis): Redis {
  return redis.on('error', () => {});
}

/**
 * The look at Redis before a start: reachable, at least 6.2, and a primary.
 * @throws LaneError `store_unavailable` or `store_refused` with one clear line.
 */
export async function checkRedis(url: string, credential?: Credential): Promise<void> {
  const redis = new Redis(url, { ...forVerbs, ...credential, lazyConnect: true, retryStrategy: () => null });
  let last: Error | undefined;
  redis.on('error', (error) => {
    last = error;
  });
  try {
    await redis.connect();
    const info = await redis.info();
    const version = /^redis_version:(\d+)\.(\d+)/m.exec(info);
    const [major, minor] = [Number(version?.[1] ?? 0), Number(version?.[2] ?? 0)];
    if (major < 6 || (major === 6 && minor < 2))
      throw new LaneError('store_unavailable', `Redis 6.2 or newer is needed, this one is ${major}.${minor}`);
    if (/^role:slave/m.test(info))
      throw new LaneError('store_unavailable', 'this Redis is a replica; give the address of the primary');
  } catch (error) {
    throw toLaneError(last ?? error);
  } finally {
    redis.disconnect();
  }
}

/**
 * Whether this Redis lets everybody in without a password. Agents share the network of their machine: one that reaches
 * such a Redis can read and change all that is kept there.
 */
export async function admitsAnybody(url: string): Promise<boolean> {
  const open = new URL(url);
  open.username = '';
  open.password = '';
  try {
    await checkRedis(open.href);
    return true;
  } catch {
    return false;
  }
}
