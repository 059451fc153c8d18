/** A look at the Redis that this installation uses, as the user that may read most of it. */
import {
  addressOf,
  admitsAnybody,
  type Credential,
  checkRedis,
  embeddedAdminUrl,
  findProgram,
  intakeNamespace,
  isLaneError,
  lookAtRedis,
  TOOL_PATH,
} from '../../lanes/index.ts';
import { readCredentialsFile } from '../config/redis-credentials.ts';
import type { DoctorConfig } from '../config.ts';
import { type Finding, fail, warn } from './finding.ts';
import { judgeRedis } from './judge-redis.ts';

const check = 'redis';

/** Findings on Redis. That our own does not run is no fault: `start` brings it up. */
export async function lookAtOurRedis(config: DoctorConfig): Promise<Finding[]> {
  try {
    const { url, credential } = wayTo(config);
    await checkRedis(url, credential);
    const [facts, anybody] = await Promise.all([lookAtRedis(url, credential), admitsAnybody(url)]);
    return judgeRedis(facts, anybody);
  } catch (error) {
    if (!isLaneError(error)) throw error;
    const why = error.details ?? error.message;
    if (config.redisUrl === null && !(await hasRedis()))
      return [
        fail(
          check,
          'neither redis-server nor valkey-server is there',
          'Install one, or set LANES_REDIS_URL.',
        ),
      ];
    if (config.redisUrl === null) return [warn(check, why, '`lanekeeper start` starts one.')];
    return [fail(check, why, 'See that LANES_REDIS_URL and LANES_CREDENTIALS name a Redis that lets us in.')];
  }
}

async function hasRedis(): Promise<boolean> {
  const programs = ['redis-server', 'valkey-server'].map((name) => findProgram(name, TOOL_PATH));
  return (await Promise.all(programs)).some((path) => path !== null);
}

function wayTo({ redisUrl, credentialsFile, dataDir }: DoctorConfig): {
  url: string;
  credential?: Credential;
} {
  if (redisUrl === null) return { url: embeddedAdminUrl(dataDir) };
  if (credentialsFile === null) return { url: redisUrl };
  const credentials = readCredentialsFile(credentialsFile);
  // A worker's file has only what it is granted; any of its users may be asked for.
  const known = credentials[intakeNamespace] ?? Object.values(credentials)[0];
  const url = addressOf(redisUrl);
  return known === undefined
    ? { url }
    : { url, credential: { username: known.user, password: known.password } };
}
