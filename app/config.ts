/**
 * The environment: the only reader of process.env. Everything is checked at once, so that a person mends it in one go;
 * nothing falls back to something weaker.
 */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  type AppCredentials,
  readPrivateKey,
  readStoredCredentials,
  secretProblem,
} from './config/credentials.ts';
import {
  type Environment,
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
  const credentials = readCredentials(variables, dataDir, problems);
  const operatorFile = findOperatorFile(variables.LANES_CONFIG, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    credentials,
    apiUrl: variables.GITHUB_API_URL,
    serverUrl: variables.GITHUB_SERVER_URL,
    redisUrl: variables.LANES_REDIS_URL ?? null,
    dataDir,
    operatorFile,
    workerName: variables.LANES_WORKER_NAME,
    publicUrl: variables.LANES_PUBLIC_URL ?? null,
    webhookProxyUrl: variables.WEBHOOK_PROXY_URL ?? credentials?.webhookProxyUrl ?? null,
    noteKeys: variables.LANES_NOTE_KEY ?? [],
    host: variables.HOST,
    port: variables.PORT,
    logLevel: variables.LOG_LEVEL,
    secretFiles: variables.PRIVATE_KEY_PATH === undefined ? [] : [resolve(variables.PRIVATE_KEY_PATH)],
    warnings: warningsFor(variables, env),
  };
}

/** What the commands beside `start` need: where its data lies, and how notes are signed. */
export interface LocalConfig {
  readonly dataDir: string;
  /** Null: the Redis that a running `start` keeps in the data directory. */
  readonly redisUrl: string | null;
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
  if (problems.length > 0) throw new ConfigError(problems);
  const { LANES_REDIS_URL: redisUrl = null, LANES_WORKER_NAME: workerName } = variables;
  return { dataDir, redisUrl, workerName, noteKeys };
}

/** The private key from wherever it is known; the notes of an installation can be read without one. */
function knownPrivateKey(variables: Variables, dataDir: string, problems: string[]): string | null {
  if (variables.PRIVATE_KEY !== undefined || variables.PRIVATE_KEY_PATH !== undefined) {
    return readKey(variables, problems);
  }
  const stored = readStoredCredentials(dataDir);
  if (stored === null || !('problems' in stored)) return stored?.privateKey ?? null;
  problems.push(...stored.problems);
  return null;
}

/** All of the App's variables, or none and what the set-up page stored. Half of them is a mistake. */
function readCredentials(variables: Variables, dataDir: string, problems: string[]): AppCredentials | null {
  const { APP_ID: appId, WEBHOOK_SECRET: webhookSecret } = variables;
  if (appId === undefined) {
    const stray = (['PRIVATE_KEY', 'PRIVATE_KEY_PATH', 'WEBHOOK_SECRET'] as const).filter(
      (name) => variables[name],
    );
    if (stray.length > 0) {
      problems.push(
        `APP_ID is not set, but ${stray.join(' and ')} ${stray.length > 1 ? 'are' : 'is'}: set all of the App's variables, or none.`,
      );
      return null;
    }
    const stored = readStoredCredentials(dataDir);
    if (stored === null || !('problems' in stored)) return stored;
    problems.push(...stored.problems);
    return null;
  }
  const problem = secretProblem(webhookSecret ?? '');
  if (problem !== null) problems.push(`WEBHOOK_SECRET ${problem}.`);
  const privateKey = readKey(variables, problems);
  if (privateKey === null || webhookSecret === undefined) return null;
  return { appId, privateKey, webhookSecret };
}

function readKey(variables: Variables, problems: string[]): string | null {
  const { PRIVATE_KEY: text, PRIVATE_KEY_PATH: path } = variables;
  if (text !== undefined && path !== undefined) {
    problems.push('PRIVATE_KEY and PRIVATE_KEY_PATH are both set: leave one of them out.');
    return null;
  }
  const name = text === undefined ? 'PRIVATE_KEY_PATH' : 'PRIVATE_KEY';
  if (text === undefined && path === undefined) {
    problems.push('PRIVATE_KEY or PRIVATE_KEY_PATH is not set: give the private key of the App (PEM).');
    return null;
  }
  try {
    const key = readPrivateKey(text ?? readFileSync(resolve(path ?? ''), 'utf8'));
    if (key === null) problems.push(`${name} is not an RSA private key in PEM form.`);
    return key;
  } catch (error) {
    problems.push(
      `PRIVATE_KEY_PATH cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
    );
    return null;
  }
}

/** A file that was asked for must be there; the default one may be missing. */
function findOperatorFile(asked: string | undefined, problems: string[]): string | null {
  const path = resolve(asked ?? defaultOperatorFile);
  if (existsSync(path)) return path;
  if (asked !== undefined) problems.push(`LANES_CONFIG names ${path}, which does not exist.`);
  return null;
}

function warningsFor({ HOST: host }: Variables, env: Environment): string[] {
  const warnings = unknownVariables(env).map((name) => `${name} is not known here and is ignored.`);
  if (!/^(?:127\.|localhost$|\[?::1\]?$)/.test(host)) {
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
