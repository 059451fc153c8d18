/** The App's credentials: from the environment, or from where the set-up page stored them, `<data>/app.json`. */
import { createPrivateKey } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** A secret shorter than this can be guessed from one signed delivery. */
const leastSecretLength = 8;

export const appCredentialsSchema = z.strictObject({
  appId: z.int().positive(),
  /** PEM. */
  privateKey: z.string(),
  webhookSecret: z.string(),
  /** Known after a registration on the set-up page. */
  slug: z.string().optional(),
  htmlUrl: z.string().optional(),
  /** The smee channel that the App's webhooks go to, where one was given on the set-up page. */
  webhookProxyUrl: z.string().optional(),
});
export type AppCredentials = z.infer<typeof appCredentialsSchema>;

/** Where the set-up page stores the credentials. */
export function credentialsFile(dataDir: string): string {
  return join(dataDir, 'app.json');
}

/** What is wrong with a webhook secret, or null. Probot accepts payloads signed with "development" where none is set. */
export function secretProblem(secret: string): string | null {
  if (secret.trim() === '') return 'is not set: put the secret of the App here';
  if (secret === 'development') return 'is "development", a default that everybody knows: choose another';
  if (secret.length < leastSecretLength)
    return `has fewer than ${leastSecretLength} characters: choose another`;
  return null;
}

/** Reads a private key as GitHub hands it out, or with `\n` written out, or in base64. Null where it is none. */
export function readPrivateKey(text: string): string | null {
  const trimmed = text.trim();
  const decoded = trimmed.startsWith('-----') ? trimmed : Buffer.from(trimmed, 'base64').toString('utf8');
  const pem = `${decoded.replaceAll('\\n', '\n').trim()}\n`;
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'rsa' ? pem : null;
  } catch {
    // Any text that is no key ends here; its own words could quote the key.
    return null;
  }
}

/** Stored credentials, or null where none are stored; `problems` where they cannot be used. */
export function readStoredCredentials(dataDir: string): AppCredentials | null | { problems: string[] } {
  const file = credentialsFile(dataDir);
  if (!existsSync(file)) return null;
  const advice = 'Remove it to register the App anew, or set APP_ID, PRIVATE_KEY and WEBHOOK_SECRET.';
  try {
    if ((statSync(file).mode & 0o077) !== 0)
      return { problems: [`${file} can be read by others. Run: chmod 600 ${file}`] };
    const parsed = appCredentialsSchema.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    if (!parsed.success) return { problems: [`${file} does not hold an App's credentials. ${advice}`] };
    const privateKey = readPrivateKey(parsed.data.privateKey);
    if (privateKey === null || secretProblem(parsed.data.webhookSecret) !== null) {
      return { problems: [`${file} holds a key or secret that cannot be used. ${advice}`] };
    }
    return { ...parsed.data, privateKey };
  } catch (error) {
    const why = error instanceof SyntaxError ? 'it is no JSON' : String(error);
    return { problems: [`${file} cannot be read: ${why}. ${advice}`] };
  }
}
