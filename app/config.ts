/**
 * The environment: the only reader of process.env. Everything is checked at once, so that a person mends it in one go;
 * nothing falls back to something weaker.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { appCredentialsOf, knownPrivateKey } from './config/app-credentials.ts';
import type { AppCredentials } from './config/credentials.ts';
import { type DoctorConfig, doctorConfigOf } from './config/doctor.ts';
import { type BoxConfig, boxConfigOf, type WorkerConfig, workerConfigOf } from './config/elsewhere.ts';
import {
  type Environment,
  isLoopback,
  type LogLevel,
  readVariables,
  unknownVariables,
  type Variables,
} from './config/environment.ts';
import { ConfigError } from './config/problems.ts';

/** What `lanekeeper start` runs on. */
export interface ServerConfig {
  /** Null: the App is not registered yet, and the set-up page is served. */
  readonly credentials: AppCredentials | null;
  /** Base of the REST API, without a slash at the end. */
  readonly apiUrl: string;
  /** Base for people's pages and for clones, without a slash at the end. */
  readonly serverUrl: string;
  /** Null: Redis is started as a private child. */
  readonly redisUrl: string | null;
  /** A file with the namespaces' Redis users; null: they are made here. */
  readonly credentialsFile: string | null;
  readonly dataDir: string;
  /** Null: there is no operator's file. */
  readonly operatorFile: string | null;
  readonly workerName: string;
  /** Where GitHub reaches us, without a slash at the end. */
  readonly publicUrl: string | null;
  /** A smee channel that webhooks come through. */
  readonly webhookProxyUrl: string | null;
  /** The keys that sign notes, the newest first; none: derived from the App's private key. */
  readonly noteKeys: readonly string[];
  readonly host: string;
  readonly port: number;
  readonly logLevel: LogLevel;
  /** Files beside the data directory that no agent may see. */
  readonly secretFiles: readonly string[];
  /** Allowed, but to be said at start. */
  readonly warnings: readonly string[];
}

const defaultOperatorFile = './lanekeeper.yml';

/**
 * Reads the environment of `start`, and what lies in the data directory and beside it.
 * @throws LaneError `invalid_config` (a ConfigError) with one line for each thing that is wrong.
 */
export function readServerConfig(env: Environment = process.env): ServerConfig {
  const variables = readVariables(env);
  const dataDir = resolve(variables.LANES_DATA_DIR);
  const problems: string[] = [];
  const credentials = appCredentialsOf(variables, dataDir, problems);
  const operatorFile = findOperatorFile(variables.LANES_CONFIG, problems);
  const credentialsFile = findCredentialsFile(variables, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    credentials,
    apiUrl: variables.GITHUB_API_URL,
    serverUrl: variables.GITHUB_SERVER_URL,
    redisUrl: variables.LANES_REDIS_URL ?? null,
    credentialsFile,
    dataDir,
    operatorFile,
    workerName: variables.LANES_WORKER_NAME,
    publicUrl: variables.LANES_PUBLIC_URL ?? null,
    webhookProxyUrl: variables.WEBHOOK_PROXY_URL ?? credentials?.webhookProxyUrl ?? null,
    noteKeys: variables.LANES_NOTE_KEY ?? [],
    host: variables.HOST,
    port: variables.PORT,
    logLevel: variables.LOG_LEVEL,
    secretFiles: [variables.PRIVATE_KEY_PATH, variables.LANES_CREDENTIALS].flatMap((path) =>
      path === undefined ? [] : [resolve(path)],
    ),
    warnings: warningsFor(variables, env),
  };
}

/** What the commands beside `start` need: where its data lies, and how notes are signed. */
export interface LocalConfig {
  readonly dataDir: string;
  /** Null: the Redis that a running `start` keeps in the data directory. */
  readonly redisUrl: string | null;
  /** A file with the namespaces' Redis users; null: those that `start` made in the data directory. */
  readonly credentialsFile: string | null;
  readonly workerName: string;
  /** What the keys of notes come from. */
  readonly noteKeys: { readonly explicit: readonly string[]; readonly privateKey: string | null };
}

/**
 * Reads what the other commands need; the webhook secret is not among it.
 * @throws LaneError `invalid_config` (a ConfigError) with one line for each thing that is wrong.
 */
export function readLocalConfig(env: Environment = process.env): LocalConfig {
  const variables = readVariables(env);
  const dataDir = resolve(variables.LANES_DATA_DIR);
  const problems: string[] = [];
  const explicit = variables.LANES_NOTE_KEY ?? [];
  const noteKeys = { explicit, privateKey: knownPrivateKey(variables, dataDir, problems) };
  const credentialsFile = findCredentialsFile(variables, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  const { LANES_REDIS_URL: redisUrl = null, LANES_WORKER_NAME: workerName } = variables;
  return { dataDir, redisUrl, credentialsFile, workerName, noteKeys };
}

export type { DoctorConfig } from './config/doctor.ts';

/** Reads what the doctor needs. It throws nothing: what is wrong is among what it reads. */
export function readDoctorConfig(env: Environment = process.env): DoctorConfig {
  return doctorConfigOf(env, findOperatorFile);
}

/** What `redis-acl` needs: the users follow from the operator's file. */
export type AclConfig = Pick<ServerConfig, 'dataDir' | 'redisUrl' | 'operatorFile' | 'workerName'>;

/**
 * Reads what `redis-acl` needs.
 * @throws LaneError `invalid_config` (a ConfigError) with one line for each thing that is wrong.
 */
export function readAclConfig(env: Environment = process.env): AclConfig {
  const variables = readVariables(env);
  const problems: string[] = [];
  const operatorFile = findOperatorFile(variables.LANES_CONFIG, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  const { LANES_REDIS_URL: redisUrl = null, LANES_WORKER_NAME: workerName } = variables;
  return { dataDir: resolve(variables.LANES_DATA_DIR), redisUrl, operatorFile, workerName };
}

/**
 * Reads what a box needs.
 * @throws LaneError `invalid_config` (a ConfigError) with one line for each thing that is wrong.
 */
export function readBoxConfig(env: Environment = process.env): BoxConfig {
  return boxConfigOf(readVariables(env));
}

/**
 * Reads what a worker on another machine needs.
 * @throws LaneError `invalid_config` (a ConfigError) with one line for each thing that is wrong.
 */
export function readWorkerConfig(env: Environment = process.env): WorkerConfig {
  return workerConfigOf(readVariables(env), readOperatorPath(env));
}

/**
 * Where the operator's file lies; null where there is none.
 * @throws LaneError `invalid_config` (a ConfigError) where LANES_CONFIG names one that is not there.
 */
export function readOperatorPath(env: Environment = process.env): string | null {
  const problems: string[] = [];
  const path = findOperatorFile(readVariables(env).LANES_CONFIG, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return path;
}

/** A file that was asked for must be there; the default one may be missing. */
function findOperatorFile(asked: string | undefined, problems: string[]): string | null {
  const path = resolve(asked ?? defaultOperatorFile);
  if (existsSync(path)) return path;
  if (asked !== undefined) problems.push(`LANES_CONFIG names ${path}, which does not exist.`);
  return null;
}

/** Users of a Redis that nobody named are of no use. */
function findCredentialsFile(
  { LANES_CREDENTIALS: path, LANES_REDIS_URL: redisUrl }: Variables,
  problems: string[],
): string | null {
  if (path === undefined) return null;
  if (redisUrl === undefined)
    problems.push('LANES_CREDENTIALS is set, but LANES_REDIS_URL is not: set both.');
  return resolve(path);
}

function warningsFor({ HOST: host }: Variables, env: Environment): string[] {
  const warnings = unknownVariables(env).map((name) => `${name} is not known here and is ignored.`);
  if (!isLoopback(host)) {
    warnings.push(
      `HOST is ${host}: whoever reaches this machine reaches the server. Put TLS in front of it.`,
    );
  }
  return warnings;
}

/**
 * What Probot gets for its environment. It reads more from there than it is told: `REDIS_URL` would become its own
 * throttling store, `PRIVATE_KEY_PATH` and loose *.pem files its key. So it sees these and nothing else.
 */
export function probotEnvironment(config: ServerConfig, credentials: AppCredentials): Record<string, string> {
  return {
    APP_ID: String(credentials.appId),
    PRIVATE_KEY: credentials.privateKey,
    WEBHOOK_SECRET: credentials.webhookSecret,
    LOG_LEVEL: config.logLevel,
  };
}

/** Names that a child of ours gets where they are set: what programs need to run at all, and nothing secret. */
const plainNames = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR'];

/**
 * The environment of the worker child: the plain names, and those that a lane's agent may see. A child of the same user
 * can read its parent's environment in /proc, so the worker, the agents' parent, must not have the App's credentials.
 */
export function workerEnvironment(
  agentNames: readonly string[],
  env: Environment = process.env,
): Record<string, string> {
  const chosen: Record<string, string> = {};
  for (const name of [...plainNames, ...agentNames]) {
    const value = env[name];
    if (value !== undefined) chosen[name] = value;
  }
  return chosen;
}

/** Where a proxy or a company's certificate stands between us and GitHub; git reads both forms. */
const networkNames = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'GIT_SSL_CAINFO',
];

/** The variables that git needs to reach GitHub from here. */
export function networkEnvironment(env: Environment = process.env): Record<string, string> {
  const names = networkNames.flatMap((name) => [name, name.toLowerCase()]);
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
