/** Who the App is, by its own credentials. */
import type { Probot } from 'probot';
import { z } from 'zod';
import { ConfigError } from '../config/problems.ts';
import type { AppIdentity } from './index.ts';

/**
 * Asks GitHub who the App is: its comments come from its slug, and wrong credentials are found at once.
 * @throws LaneError `invalid_config` (a ConfigError) where GitHub does not accept them or cannot be asked.
 */
export async function whoAmI(probot: Pick<Probot, 'auth'>, apiUrl: string): Promise<AppIdentity> {
  try {
    const octokit = await probot.auth();
    const { data } = await octokit.request('GET /app');
    return z.object({ id: z.int(), slug: z.string() }).parse(data);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const status = error instanceof Error && 'status' in error ? error.status : undefined;
    const refused = status === 401 || status === 403 || status === 404;
    const what = refused ? 'does not accept APP_ID and the private key' : 'cannot be asked who the App is';
    throw new ConfigError([`GitHub at ${apiUrl} ${what}: ${why}.`], {
      cause: error,
    });
  }
}
