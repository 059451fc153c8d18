/** The App's credentials as the variables name them, or as the set-up page stored them. What is wrong is added to `problems`. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type AppCredentials, readPrivateKey, readStoredCredentials, secretProblem } from './credentials.ts';
import type { Variables } from './environment.ts';

/** The private key from wherever it is known; the notes of an installation can be read without one. */
export function knownPrivateKey(variables: Variables, dataDir: string, problems: string[]): string | null {
  if (variables.PRIVATE_KEY !== undefined || variables.PRIVATE_KEY_PATH !== undefined) {
    return readKey(variables, problems);
  }
  const stored = readStoredCredentials(dataDir);
  if (stored === null || !('problems' in stored)) return stored?.privateKey ?? null;
  problems.push(...stored.problems);
  return null;
}

/** All of the App's variables, or none and what the set-up page stored. Half of them is a mistake. */
export function appCredentialsOf(
  variables: Variables,
  dataDir: string,
  problems: string[],
): AppCredentials | null {
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
