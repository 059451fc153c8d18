/** The file that LANES_CREDENTIALS names: JSON, namespace -> user and password, for its owner's eyes only. */
import { type Credentials, credentialsSchema, isLaneError, readSecretFile } from '../../lanes/index.ts';
import { ConfigError } from './problems.ts';

/**
 * Reads a credentials file.
 * @throws LaneError `invalid_config` (a ConfigError) with one line: missing, readable by others, or something else.
 */
export function readCredentialsFile(path: string): Credentials {
  const text = read(path);
  if (text === null) throw new ConfigError([`LANES_CREDENTIALS names ${path}, which does not exist.`]);
  try {
    return credentialsSchema.parse(JSON.parse(text));
  } catch {
    // Its own words could quote a password.
    const form = '{ "<namespace>": { "user": "…", "password": "…" } }';
    throw new ConfigError([`LANES_CREDENTIALS: ${path} is not JSON of the form ${form}.`]);
  }
}

function read(path: string): string | null {
  try {
    return readSecretFile(path);
  } catch (error) {
    if (!isLaneError(error)) throw error;
    throw new ConfigError([`LANES_CREDENTIALS: ${error.details ?? error.message}`], { cause: error });
  }
}

/**
 * Checks that credentials are there for all of these namespaces.
 * @throws LaneError `invalid_config` (a ConfigError) with one line that names those that are missing.
 */
export function demandCredentials(
  path: string,
  credentials: Credentials,
  namespaces: Iterable<string>,
): void {
  const missing = [...namespaces].filter((namespace) => !Object.hasOwn(credentials, namespace));
  if (missing.length === 0) return;
  throw new ConfigError([`LANES_CREDENTIALS: ${path} has no user for ${missing.join(', ')}.`]);
}
