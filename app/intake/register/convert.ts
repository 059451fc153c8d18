/** The last step of GitHub's manifest flow: a code, good once and for an hour, becomes the App's credentials. */
import { Octokit } from '@octokit/rest';
import { z } from 'zod';
import { LaneError } from '../../../lanes/index.ts';
import { type AppCredentials, readPrivateKey, secretProblem } from '../../config/credentials.ts';

const convertWithinMs = 20_000;

const conversionSchema = z.object({
  id: z.int().positive(),
  slug: z.string().nullish(),
  html_url: z.string(),
  pem: z.string(),
  webhook_secret: z.string().nullish(),
});

/**
 * Asks once: this client repeats nothing, and a code that was used is void.
 * @throws LaneError `github_failed` where GitHub refuses the code, or does not answer as it documents.
 */
export async function convertCode(
  apiUrl: string,
  code: string,
  webhookProxyUrl: string | null,
): Promise<AppCredentials> {
  const { id, slug, html_url, pem, webhook_secret } = await ask(apiUrl, code);
  const privateKey = readPrivateKey(pem);
  const webhookSecret = webhook_secret ?? '';
  if (privateKey === null)
    throw new LaneError('github_failed', 'the private key of the new App cannot be read');
  const problem = secretProblem(webhookSecret);
  if (problem !== null) throw new LaneError('github_failed', `the webhook secret of the new App ${problem}`);
  return {
    appId: id,
    privateKey,
    webhookSecret,
    htmlUrl: html_url,
    ...(slug ? { slug } : {}),
    ...(webhookProxyUrl === null ? {} : { webhookProxyUrl }),
  };
}

async function ask(apiUrl: string, code: string): Promise<z.infer<typeof conversionSchema>> {
  const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const octokit = new Octokit({ baseUrl: apiUrl, log: quiet });
  try {
    const request = { retries: 0, signal: AbortSignal.timeout(convertWithinMs) };
    const { data } = await octokit.rest.apps.createFromManifest({ code, request });
    return conversionSchema.parse(data);
  } catch (error) {
    const status = error instanceof Error && 'status' in error ? ` (${String(error.status)})` : '';
    throw new LaneError(
      'github_failed',
      `the code could not be exchanged for the App's credentials${status}`,
      {
        cause: error,
      },
    );
  }
}
