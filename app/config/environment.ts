/** The variables that Lanekeeper knows, each with its form and its default. They are read in `app/config.ts` alone. */
import { hostname } from 'node:os';
import { z } from 'zod';
import { ConfigError } from './problems.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

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

/** The variables of `start`. An empty one counts as not set. */
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
  LANES_CREDENTIALS: z.string().optional(),
  LANES_DATA_DIR: z.string().default('./var'),
  LANES_CONFIG: z.string().optional(),
  LANES_WORKER_NAME: z
    .string()
    .regex(/^[\w.:@-]{1,100}$/, 'must be 1 to 100 letters, digits, or any of _ . : @ -')
    .default(() => hostname()),
  LANES_PUBLIC_URL: webUrl.optional(),
  LANES_APP_URL: webUrl.optional(),
  LANES_WORKER_TOKEN: z
    .string()
    .regex(/^lkw_[0-9a-f]{8}_[\w-]{43}$/, 'must be a token as `lanekeeper worker-token add` prints it')
    .optional(),
  LANES_NOTE_KEY: z
    .string()
    .transform((text) => text.split(',').map((key) => key.trim()))
    .refine((keys) => keys.every((key) => key.length >= 16), 'must have at least 16 characters in each key')
    .optional(),
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
export type Variables = z.infer<typeof environmentSchema>;

/**
 * Reads the variables. An empty one counts as not set.
 * @throws LaneError `invalid_config` (a ConfigError) with one line for each that is wrong.
 */
export function readVariables(env: Environment): Variables {
  const set = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = environmentSchema.safeParse(set);
  if (parsed.success) return parsed.data;
  throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}.`));
}

/** Whether an address or host name is this machine alone. */
export function isLoopback(host: string): boolean {
  return /^(?:127\.|localhost$|\[?::1\]?$)/.test(host);
}

/** Variables that look like ours and are not known: most likely a slip. */
export function unknownVariables(env: Environment): string[] {
  const known = new Set(Object.keys(environmentSchema.shape));
  return Object.keys(env).filter((name) => name.startsWith('LANES_') && env[name] && !known.has(name));
}
