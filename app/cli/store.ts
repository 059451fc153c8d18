/**
 * The store as a command sees it: the Redis of a running `start`, or the one that LANES_REDIS_URL names. A command acts
 * with the App's namespace users, as `start` does, and never as a superuser.
 */
import { randomUUID } from 'node:crypto';
import {
  addressOf,
  appIdentity,
  type Credentials,
  checkRedis,
  connectWith,
  createEngine,
  credentialsOf,
  type Engine,
  embeddedAddress,
  type IssueRecord,
  intakeNamespace,
  LaneError,
  makeCaller,
  makeRegistry,
  type Namespace,
  readKeyring,
  type Task,
} from '../../lanes/index.ts';
import { readCredentialsFile } from '../config/redis-credentials.ts';
import { type LocalConfig, readLocalConfig } from '../config.ts';
import type { IssueAddress } from './issue-address.ts';

export interface OpenStore {
  readonly config: LocalConfig;
  /** An engine that knows the App's own namespaces and these. Reading needs no operator's file. */
  engine(namespaces: readonly Namespace[]): Engine;
}

/**
 * Opens the store for `use`, and closes it again.
 * @throws LaneError `store_unavailable` where there is none that answers, or no user for it is known here.
 */
export async function withStore<T>(use: (store: OpenStore) => Promise<T>): Promise<T> {
  const config = readLocalConfig();
  const address = config.redisUrl === null ? embeddedAddress(config.dataDir) : addressOf(config.redisUrl);
  const credentials = knownCredentials(config);
  const intake = credentials[intakeNamespace];
  await checkRedis(address, intake && { username: intake.user, password: intake.password });
  const connect = connectWith(address, credentials);
  const engines: Engine[] = [];
  const engine = (namespaces: readonly Namespace[]): Engine => {
    const registry = makeRegistry(namespaces);
    const made = createEngine({ connect, registry, id: randomUUID });
    engines.push(made);
    return made;
  };
  try {
    return await use({ config, engine });
  } finally {
    await Promise.all(engines.map((one) => one.close()));
  }
}

function knownCredentials({ credentialsFile, dataDir }: LocalConfig): Credentials {
  if (credentialsFile !== null) return readCredentialsFile(credentialsFile);
  const credentials = credentialsOf(readKeyring(dataDir), appIdentity);
  if (intakeNamespace in credentials) return credentials;
  const why = `no Redis users are known in ${dataDir}: run this where \`start\` runs, or set LANES_CREDENTIALS`;
  throw new LaneError('store_unavailable', why);
}

/**
 * What is known of one issue.
 * @throws LaneError `unknown_issue` where nothing is known, or several repositories have one of that number.
 */
export async function findIssue({ engine }: OpenStore, address: IssueAddress): Promise<IssueRecord> {
  const { number, repository } = address;
  const caller = makeCaller('cli', [intakeNamespace]);
  const found = await engine([]).issues.find(caller, number, repository);
  const [record, ...others] = found;
  if (record === undefined) {
    throw new LaneError('unknown_issue', `nothing is known of ${repository ?? ''}#${number}`);
  }
  if (others.length > 0) {
    const names = found.map(({ issue }) => `${issue.repository}#${number}`).join(', ');
    throw new LaneError('unknown_issue', `say which one: ${names}`);
  }
  return record;
}

/** The task that the issue is, or was last, bound to. */
export async function latestTask({ engine }: OpenStore, { latest }: IssueRecord): Promise<Task | null> {
  if (latest === undefined) return null;
  const { namespace, task } = latest;
  return engine([namespace]).get(makeCaller('cli', [namespace]), namespace, task);
}
