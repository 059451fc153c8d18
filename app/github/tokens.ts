/** What a run clones with: a token for that one repository which may only read its contents, minted for each run. */
import { z } from 'zod';
import type { Api, RepositoryRef } from './api.ts';
import { unusable } from './failure.ts';

const tokenSchema = z.object({ token: z.string().min(1) });

export interface CloneAccess {
  readonly url: string;
  /** None where the clone base is a path. */
  readonly token?: string;
}

export interface TokenCalls {
  /** The clone address and a fresh token for it. */
  cloneAccess(ref: RepositoryRef): Promise<CloneAccess>;
}

/** `serverUrl` is the clone base, such as `https://github.com` or a `file://` path. */
export function makeTokenCalls(api: Api, serverUrl: string): TokenCalls {
  const base = serverUrl.replace(/\/+$/, '');
  return {
    async cloneAccess(ref) {
      const url = `${base}/${api.nameOf(ref)}.git`;
      if (base.startsWith('file:')) return { url };
      // Minted on the App's client: Octokit's own narrowed minting ignores another base URL.
      const reply = await api.asApp('POST /app/installations/{installation_id}/access_tokens', {
        installation_id: ref.installation,
        repository_ids: [ref.repositoryId],
        permissions: { contents: 'read' },
      });
      const parsed = tokenSchema.safeParse(reply.data);
      if (!parsed.success) throw unusable('an installation token', undefined);
      return { url, token: parsed.data.token };
    },
  };
}
