/**
 * Connections to Redis. A verb's connection never queues and never sends twice: what was not answered is an error for
 * the caller, who decides again. BullMQ's connection may do both.
 */
import { Redis, type RedisOptions } from 'ioredis';
import { LaneError } from '../errors.ts';
import type { Namespace } from '../namespaces.ts';
import type { Credentials } from '../records/access.ts';
import { toLaneError } from './answers.ts';

const reconnectMs = (attempt: number): number => Math.min(attempt * 100, 1_000);

const forVerbs: RedisOptions = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  enableAutoPipelining: false,
  retryStrategy: reconnectMs,
  connectTimeout: 5_000,
  // A namespace's user may not say it, and Redis would log a refusal with every connection.
  disableClientInfo: true,
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

/** Opens a connection for verbs. A credential takes the place of the address's own. */
export function openRedis(url: string, credential?: Credential): Redis {
  return gather(quiet(new Redis(url, { ...forVerbs, ...credential })));
}

/**
 * Opens each namespace's connection with that namespace's own credential, as `createEngine` needs it.
 * @throws LaneError `store_refused` (when called) for a namespace without one: there is no other way in.
 */
export function connectWith(address: string, credentials: Credentials): (ns: Namespace) => Redis {
  return (ns) => {
    const known = Object.hasOwn(credentials, ns) ? credentials[ns] : undefined;
    if (known === undefined) throw new LaneError('store_refused', `no Redis user for ${ns} is known here`);
    return openRedis(address, { username: known.user, password: known.password });
  };
}

/** The address of a Redis without who logs in. */
export function addressOf(url: string): string {
  const address = new URL(url);
  address.username = '';
  address.password = '';
  for (const name of ['username', 'password']) address.searchParams.delete(name);
  return address.href;
}

/** The logical database that an address names; the first where it names none. */
export function databaseOf(url: string): number {
  const { pathname, searchParams } = new URL(url);
  return Number(/^\/(\d+)/.exec(pathname)?.[1] ?? searchParams.get('db') ?? 0);
}

/** A second connection with the same credential, for reads that block: they must not hold up the verbs. */
export function openBlocking(redis: Redis): Redis {
  return quiet(redis.duplicate({ enableAutoPipelining: false }));
}

/** What one BullMQ worker holds of Redis. */
export interface QueueConnection {
  readonly redis: Redis;
  /** Closes everything, in whatever state it is. */
  end(): void;
}

/**
 * Another connection with the same credential, for BullMQ. BullMQ makes a further one of it, for what blocks, and leaves
 * that one open where it never came to be ready: it would knock at Redis for ever. So it is remembered here.
 */
export function openForQueue(redis: Redis): QueueConnection {
  const first = gather(quiet(redis.duplicate(forQueue)));
  const opened = [first];
  const duplicate = first.duplicate.bind(first);
  first.duplicate = (options) => {
    const further = quiet(duplicate(options));
    opened.push(further);
    return further;
  };
  return {
    redis: first,
    end() {
      for (const one of opened) one.disconnect();
    },
  };
}

/** What is sent in one turn of the event loop leaves in one write: a system call costs more than a command. */
function gather(redis: Redis): Redis {
  return redis.on('connect', () => {
    const { stream } = redis;
    const write = stream.write.bind(stream) as (data: string | Buffer) => boolean;
    const release = (): void => stream.uncork();
    stream.write = (data: string | Buffer): boolean => {
      if (stream.writableCorked === 0) {
        stream.cork();
        setImmediate(release);
      }
      return write(data);
    };
  });
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
  await lookWith(url, credential, async (redis) => {
    const info = await redis.info();
    const version = /^redis_version:(\d+)\.(\d+)/m.exec(info);
    const [major, minor] = [Number(version?.[1] ?? 0), Number(version?.[2] ?? 0)];
    if (major < 6 || (major === 6 && minor < 2))
      throw new LaneError('store_unavailable', `Redis 6.2 or newer is needed, this one is ${major}.${minor}`);
    if (/^role:slave/m.test(info))
      throw new LaneError('store_unavailable', 'this Redis is a replica; give the address of the primary');
  });
}

/**
 * Asks a Redis over a connection that is closed again and never tries twice.
 * @throws LaneError `store_unavailable` or `store_refused` with one clear line, or that of `ask`.
 */
export async function lookWith<T>(
  url: string,
  credential: Credential | undefined,
  ask: (redis: Redis) => Promise<T>,
): Promise<T> {
  const redis = new Redis(url, { ...forVerbs, ...credential, lazyConnect: true, retryStrategy: () => null });
  let last: Error | undefined;
  redis.on('error', (error) => {
    last = error;
  });
  try {
    await redis.connect();
    return await ask(redis);
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
  try {
    await checkRedis(addressOf(url));
    return true;
  } catch {
    return false;
  }
}
