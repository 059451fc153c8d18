/** The configuration of workers that stand elsewhere: they reach the App over HTTP, with a token. */
import { resolve } from 'node:path';
import { isLoopback, type LogLevel, type Variables } from './environment.ts';
import { ConfigError } from './problems.ts';

/** What a worker elsewhere needs to reach its App. */
export interface BoxConfig {
  /** The App's base address, without a slash at the end. */
  readonly appUrl: string;
  readonly token: string;
  readonly dataDir: string;
  readonly workerName: string;
  readonly logLevel: LogLevel;
  readonly warnings: readonly string[];
}

/**
 * The App's address, the token, and a place for work.
 * @throws LaneError `invalid_config` (a ConfigError) with one line for each thing that is wrong.
 */
export function boxConfigOf(variables: Variables): BoxConfig {
  const problems: string[] = [];
  const box = boxOr(variables, problems);
  if (box === null) throw new ConfigError(problems);
  return box;
}

function boxOr(variables: Variables, problems: string[]): BoxConfig | null {
  const { LANES_APP_URL: appUrl, LANES_WORKER_TOKEN: token } = variables;
  if (appUrl === undefined) problems.push('LANES_APP_URL is not set: give the address of the App.');
  if (token === undefined) {
    problems.push(
      'LANES_WORKER_TOKEN is not set: `lanekeeper worker-token add <worker>` on the App prints one.',
    );
  }
  if (appUrl === undefined || token === undefined) return null;
  return {
    appUrl,
    token,
    dataDir: resolve(variables.LANES_DATA_DIR),
    workerName: variables.LANES_WORKER_NAME,
    logLevel: variables.LOG_LEVEL,
    warnings: inTheClear(appUrl),
  };
}

function inTheClear(appUrl: string): string[] {
  const { protocol, hostname } = new URL(appUrl);
  if (protocol === 'https:' || isLoopback(hostname)) return [];
  return [
    `LANES_APP_URL is ${appUrl}: the token goes over the network in the clear. Put TLS in front of the App.`,
  ];
}

/** What a worker with Redis users of its own needs, on another machine than the App's. */
export interface WorkerConfig extends BoxConfig {
  readonly redisUrl: string;
  readonly credentialsFile: string;
  /** Null: there is no operator's file. */
  readonly operatorFile: string | null;
}

/**
 * What a box needs, and the way to Redis.
 * @throws LaneError `invalid_config` (a ConfigError) with one line for each thing that is wrong.
 */
export function workerConfigOf(variables: Variables, operatorFile: string | null): WorkerConfig {
  const { LANES_REDIS_URL: redisUrl, LANES_CREDENTIALS: file } = variables;
  const problems: string[] = [];
  if (redisUrl === undefined) problems.push('LANES_REDIS_URL is not set: give the address of the Redis.');
  if (file === undefined) {
    problems.push(
      'LANES_CREDENTIALS is not set: `lanekeeper redis-acl --credentials <worker> <file>` on the App writes the file.',
    );
  }
  const box = boxOr(variables, problems);
  if (redisUrl === undefined || file === undefined || box === null) throw new ConfigError(problems);
  return { ...box, redisUrl, credentialsFile: resolve(file), operatorFile };
}
