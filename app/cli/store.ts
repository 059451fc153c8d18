/** The store as a command sees it: the Redis of a running `start`, or the one that LANES_REDIS_URL names. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  checkRedis,
  createEngine,
  type Engine,
  embeddedUrlFile,
  type IssueRecord,
  intakeNamespace,
  LaneError,
  makeCaller,
  openRedis,
  type Task,
} from '../../lanes/index.ts';
import { loadOperatorFile } from '../config/operator-file.ts';
import { type LocalConfig, readLocalConfig } from '../config.ts';
import type { IssueAddress } from './issue-address.ts';

export interface OpenStore {
  readonly engine: Engine;
  readonly config: LocalConfig;
}

/**
 * Opens the store for `use`, and closes it again.
 * @throws LaneError `store_unavailable` where there is none that answers.
 */
export async function withStore<T>(use: (store: OpenStore) => Promise<T>): Promise<T> {
  const config = readLocalConfig();
  const url = config.redisUrl ?? embeddedUrl(config.dataDir);
  await checkRedis(url);
  const { registry } = loadOperatorFile(config.operatorFile, config.workerName);
  const engine = createEngine({
    connect: () => openRedis(url),
    registry,
    id: () => randomBytes(16).toString('hex'),
  });
  try {
    return await use({ engine, config });
  } finally {
    await engine.close();
  }
}

function embeddedUrl(dataDir: string): string {
  try {
    return readFileSync(embeddedUrlFile(dataDir), 'utf8').trim();
  } catch (cause) {
    const why = `no Redis was started in ${dataDir}: start Lanekeeper, or set LANES_REDIS_URL or LANES_DATA_DIR`;
    throw new LaneError('store_unavailable', why, { cause });
  }
}

/**
 * What is known of one issue.
 * @throws LaneError `unknown_issue` where nothing is known, or several repositories have one of that number.
 */
export async function findIssue({ engine }: OpenStore, address: IssueAddress): Promise<IssueRecord> {
  const { number, repository } = address;
  const caller = makeCaller('cli', [intakeNamespace]);
  const found = await engine.issues.find(caller, number, repository);
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
  return engine.get(makeCaller('cli', [latest.namespace]), latest.namespace, latest.task);
}
