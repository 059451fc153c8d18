/**
 * The environment: the only reader of process.env. Everything is checked at once, so that a person mends it in one go;
 * nothing falls back to something weaker.
 */
import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import {
  type AppCredentials,
  readPrivateKey,
  readStoredCredentials,
  secretProblem,
} from './config/credentials.ts';
import { ConfigError } from './config/problems.ts';

type Environment = Readonly<Record<string, string | undefined>>;

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
  /** Null: derived from the App's private key. */
  readonly noteKey: string | null;
  readonly host: string;
  readonly port: number;
  readonly logLevel: LogLevel;
  /** Allowed, but to be said at start. */
  readonly warnings: readonly string[];
}

const logLevelSchema = z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal']);
export type LogLevel = z.infer<typeof logLevelSchema>;

const urlOf = (...protocols: string[]) =>
  z
    .string()
    .refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), {
      error: `must be a URL that begins with ${protocols.map((one) => `${one}//`).join(' or ')}`,
    })
    .transform((text) => text.replace(/\/+$/, ''));

const webUrl = urlOf('http:', 'https:');

/** The variables of `start`, as DESIGN names them. An empty one counts as not set. */
export const environmentSchema = z.object({
  APP_ID: z
    .string()
    .regex(/^[1-9]\d{0,15}$/, 'must be the number of the App')
    .transform(Number)
    .optional(),
  PRIVATE_KEY: z.string().optional(),
  PRIVATE_KEY_PATH: z.string().optional(),
  WEBHOOK_SECRET: z.string().optional(),
  WEBHOOK_PROXY_URL: webUrl.optional(),
  GITHUB_API_URL: webUrl.default('https://api.github.com'),
  GITHUB_SERVER_URL: urlOf('http:', 'https:', 'file:').default('https://github.com'),
  LANES_REDIS_URL: urlOf('redis:', 'rediss:').optional(),
  LANES_DATA_DIR: z.string().default('./var'),
  LANES_CONFIG: z.string().optional(),
  LANES_WORKER_NAME: z
    .string()
    .regex(/^[\w.:@-]{1,100}$/, 'must be 1 to 100 letters, digits, or any of _ . : @ -')
    .default(() => hostname()),
  LANES_PUBLIC_URL: webUrl.optional(),
  LANES_NOTE_KEY: z.string().min(16, 'must have at least 16 characters').optional(),
  HOST: z
    .string()
    .regex(/^[\w.:[\]-]+$/, 'must be an address or a host name')
    .default('127.0.0.1'),
  PORT: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a number')
    .transform(Number)
    .refine((port) => port <= 65_535, 'must be at most 65535')
    .default(3000),
  LOG_LEVEL: logLevelSchema.default('info'),
});
type Variables = z.infer<typeof environmentSchema>;

const defaultOperatorFile = './lanekeeper.yml';

/**
 * Reads the environment of `start`, and what lies in the data directory and beside it.
 * @throws LaneError `invalid_config` (a ConfigError) with one line for each thing that is wrong.
 */
export function readServerConfig(env: Environment = process.env): ServerConfig {
  const set = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = environmentSchema.safeParse(set);
  if (!parsed.success) {
    throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}.`));
  }
  const variables = parsed.data;
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
    noteKey: variables.LANES_NOTE_KEY ?? null,
    host: variables.HOST,
    port: variables.PORT,
    logLevel: variables.LOG_LEVEL,
    warnings: warningsFor(variables, set),
  };
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
        `APP_ID is not set, but ${stray.join(' and ')} is: set all of the App's variables, or none.`,
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

function warningsFor({ HOST: host }: Variables, set: Record<string, string | undefined>): string[] {
  const known = new Set(Object.keys(environmentSchema.shape));
  const unknown = Object.keys(set).filter((name) => name.startsWith('LANES_') && !known.has(name));
  const warnings = unknown.map((name) => `${name} is not known here and is ignored.`);
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
