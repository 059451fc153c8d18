/**
 * The store as `start` opens it: a Redis of its own, or the one that LANES_REDIS_URL names. Either way every namespace
 * has a user of its own; the superuser's connection provisions them, and does nothing else.
 */
import type { Logger } from 'pino';
import {
  addressOf,
  admitsAnybody,
  appIdentity,
  type Credentials,
  checkRedis,
  credentialsOf,
  databaseOf,
  guardUsers,
  intakeNamespace,
  isChange,
  isLaneError,
  keepEmbeddedRedis,
  LaneError,
  type Namespace,
  openRedis,
  provision,
  type RedisUser,
  readKeyring,
  syncKeyring,
} from '../lanes/index.ts';
import type { OperatorConfig } from './config/operator-file.ts';
import { demandCredentials, readCredentialsFile } from './config/redis-credentials.ts';
import { wantedUsers } from './config/redis-users.ts';
import type { ServerConfig } from './config.ts';

export interface Store {
  /** Where Redis is, without who logs in. */
  readonly address: string;
  /** The App's own credentials: one for every namespace. */
  readonly credentials: Credentials;
  /** What a worker gets: the credentials of these namespaces, as itself. */
  credentialsFor(worker: string, namespaces: readonly Namespace[]): Credentials;
  /** @throws LaneError where Redis does not answer. */
  ping(): Promise<void>;
  stop(): Promise<void>;
  /** Resolves when a Redis of ours is gone for good; never for another one. */
  readonly ended: Promise<void>;
}

export interface StoreDeps {
  readonly config: Pick<ServerConfig, 'redisUrl' | 'credentialsFile' | 'dataDir'>;
  readonly operator: Pick<OperatorConfig, 'registry' | 'grants'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

const never = new Promise<void>(() => {});

/**
 * Opens the store, with the users of this operator's file in it.
 * @throws LaneError `store_unavailable`, `store_refused`, `invalid_config`, with one clear line.
 */
export async function openStore(deps: StoreDeps): Promise<Store> {
  const { redisUrl, credentialsFile } = deps.config;
  if (redisUrl === null) return openOwn(deps);
  if (await admitsAnybody(redisUrl)) {
    deps.log.warn(
      'LANES_REDIS_URL: this Redis asks for no password, so an agent that can reach it can change everything. See `lanekeeper redis-acl --lock-default`.',
    );
  }
  return credentialsFile === null ? openGiven(deps, redisUrl) : openHanded(deps, redisUrl, credentialsFile);
}

/** A private Redis. Its users are in its configuration: a new one has them at once. */
async function openOwn(deps: StoreDeps): Promise<Store> {
  const { dataDir } = deps.config;
  const users = syncKeyring(dataDir, wantedUsers(deps.operator));
  const redis = await keepEmbeddedRedis({
    dataDir,
    users: () => readKeyring(dataDir),
    onDeath: () => deps.log.warn('Redis ended; starting it again'),
  });
  const guard = guardUsers({ ...guarding(deps), db: 0, admin: openRedis(redis.url) });
  const stop = async (): Promise<void> => {
    await guard.stop();
    await redis.stop();
  };
  return { ...made(users, redis.url), stop, ended: redis.ended };
}

/** Another Redis, where LANES_REDIS_URL logs in as somebody who may make users. */
async function openGiven(deps: StoreDeps, redisUrl: string): Promise<Store> {
  await checkRedis(redisUrl);
  const users = syncKeyring(deps.config.dataDir, wantedUsers(deps.operator));
  const db = databaseOf(redisUrl);
  const admin = openRedis(redisUrl);
  try {
    const did = await provision(admin, users, { db, removes: () => true, onlyOurPasswords: false });
    if (isChange(did)) deps.log.info(did, 'Redis users were made or changed');
  } catch (error) {
    admin.disconnect();
    throw explained(error);
  }
  const guard = guardUsers({ ...guarding(deps), db, admin });
  return { ...made(users, redisUrl), stop: () => guard.stop(), ended: never };
}

function explained(error: unknown): unknown {
  if (!isLaneError(error, 'store_refused')) return error;
  const why = `the user of LANES_REDIS_URL may not make users: give one that may, or set LANES_CREDENTIALS`;
  return new LaneError('store_refused', `${why}: ${error.details}`, { cause: error });
}

/** Another Redis, whose users somebody else made. */
async function openHanded(deps: StoreDeps, redisUrl: string, file: string): Promise<Store> {
  const { registry } = deps.operator;
  const credentials = readCredentialsFile(file);
  demandCredentials(file, credentials, registry);
  const address = addressOf(redisUrl);
  const ping = (ns: Namespace): Promise<void> => checkAs(address, credentials, ns);
  for (const namespace of registry) await ping(namespace);
  return {
    address,
    credentials,
    credentialsFor: (_worker, namespaces) => only(credentials, namespaces),
    ping: () => ping(intakeNamespace),
    stop: async () => {},
    ended: never,
  };
}

function made(
  users: readonly RedisUser[],
  url: string,
): Pick<Store, 'address' | 'credentials' | 'credentialsFor' | 'ping'> {
  const address = addressOf(url);
  const credentials = credentialsOf(users, appIdentity);
  return {
    address,
    credentials,
    credentialsFor: (worker, namespaces) => only(credentialsOf(users, worker), namespaces),
    ping: () => checkAs(address, credentials, intakeNamespace),
  };
}

async function checkAs(address: string, credentials: Credentials, ns: Namespace): Promise<void> {
  const { user, password } = credentials[ns] ?? { user: '', password: '' };
  await checkRedis(address, { username: user, password });
}

function only(credentials: Credentials, namespaces: readonly Namespace[]): Credentials {
  return Object.fromEntries(
    namespaces.flatMap((ns) => (credentials[ns] === undefined ? [] : [[ns, credentials[ns]]])),
  ) as Credentials;
}

function guarding({ config, log }: StoreDeps): Omit<Parameters<typeof guardUsers>[0], 'db' | 'admin'> {
  return {
    users: () => readKeyring(config.dataDir),
    onMended: (did) => log.warn(did, 'Redis users were lost or changed, and are made again'),
    onTrouble: (error) => log.warn({ err: error }, 'Redis users could not be looked at'),
  };
}
