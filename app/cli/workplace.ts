/** The data directory as a command sees it: that of a worker of this machine, which may be running. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { openWorkplace, type Workplace } from '../../lanes/index.ts';
import { ConfigError } from '../config/problems.ts';
import { type LocalConfig, readLocalConfig } from '../config.ts';

/**
 * Opens LANES_DATA_DIR. One that is not there is not made: nothing of a worker's could lie in it.
 * @throws LaneError `invalid_config` (a ConfigError) where there is none; `disk`.
 */
export async function openLocalWorkplace(config: LocalConfig = readLocalConfig()): Promise<Workplace> {
  const { dataDir, workerName } = config;
  if (!existsSync(dataDir)) {
    throw new ConfigError([`LANES_DATA_DIR: there is no ${dataDir}. Run this where the worker runs.`]);
  }
  return await openWorkplace({ dataDir, instance: workerName, now: Date.now, id: () => randomUUID() });
}

/** Who types this, for records: the system user's name, or its number where it has none. */
export function whoTypes(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
