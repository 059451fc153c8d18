/** What the doctor needs of the environment: as far as it can be read. What is wrong is an answer, not an error. */
import { join, resolve } from 'node:path';
import { appCredentialsOf } from './app-credentials.ts';
import { credentialsFile } from './credentials.ts';
import { type Environment, readVariables, unknownVariables, type Variables } from './environment.ts';
import { isConfigError } from './problems.ts';

export interface DoctorConfig {
  readonly dataDir: string;
  /** Null: the Redis that `start` keeps in the data directory. */
  readonly redisUrl: string | null;
  readonly credentialsFile: string | null;
  readonly workerName: string;
  /** Null: there is no operator's file. */
  readonly operatorFile: string | null;
  /** The App of a worker elsewhere. */
  readonly app: { readonly appUrl: string; readonly token: string } | null;
  readonly secrets: { readonly named: readonly string[]; readonly own: readonly string[] };
  /** One line for each thing that is wrong, or odd. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** Names of the files with secrets that are made in a data directory. */
const ownSecrets = ['redis-users.json', 'redis.password', 'worker-tokens.json'];

/** Where the operator's file lies; what is wrong with where it should is added to the problems. */
type FindOperatorFile = (asked: string | undefined, problems: string[]) => string | null;

/** Reads what is set. Variables that cannot be read are told, and their defaults looked at instead. */
export function doctorConfigOf(env: Environment, findOperatorFile: FindOperatorFile): DoctorConfig {
  const problems: string[] = [];
  const variables = variablesOr(env, problems);
  const dataDir = resolve(variables.LANES_DATA_DIR);
  const { LANES_APP_URL: appUrl, LANES_WORKER_TOKEN: token, LANES_CREDENTIALS: users } = variables;
  if ((appUrl === undefined) !== (token === undefined))
    problems.push('LANES_APP_URL and LANES_WORKER_TOKEN go together: set both, or none.');
  appCredentialsOf(variables, dataDir, problems);
  const named = [variables.PRIVATE_KEY_PATH, users].flatMap((path) => (path ? [resolve(path)] : []));
  return {
    dataDir,
    redisUrl: variables.LANES_REDIS_URL ?? null,
    credentialsFile: users === undefined ? null : resolve(users),
    workerName: variables.LANES_WORKER_NAME,
    operatorFile: findOperatorFile(variables.LANES_CONFIG, problems),
    app: appUrl !== undefined && token !== undefined ? { appUrl, token } : null,
    secrets: { named, own: [credentialsFile(dataDir), ...ownSecrets.map((name) => join(dataDir, name))] },
    problems,
    warnings: unknownVariables(env).map((name) => `${name} is not known here and is ignored.`),
  };
}

function variablesOr(env: Environment, problems: string[]): Variables {
  try {
    return readVariables(env);
  } catch (error) {
    if (!isConfigError(error)) throw error;
    problems.push(...error.problems);
    const names = new Set(error.problems.map((problem) => problem.split(/[ .]/)[0]));
    return readVariables(Object.fromEntries(Object.entries(env).filter(([name]) => !names.has(name))));
  }
}
