/** A fresh look at an issue. It is parsed leniently: what we do not use may be missing or odd. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { IssueRef } from '../../lanes/index.ts';
import type { Api } from './api.ts';
import type { Reply } from './client.ts';
import { failureOf, unusable } from './failure.ts';

/** Somebody on GitHub, as payloads and answers name them. */
export const userSchema = z.object({
  login: z.string(),
  id: z.number().catch(0),
  type: z.string().catch('User'),
});
export type User = z.infer<typeof userSchema>;

const labelSchema = z.union([z.string(), z.object({ name: z.string().nullish() })]);

const issueSchema = z.object({
  number: z.number(),
  title: z.string().catch(''),
  body: z.string().nullish().catch(null),
  state: z.enum(['open', 'closed']),
  state_reason: z.string().nullish().catch(null),
  locked: z.boolean().catch(false),
  labels: z.array(labelSchema).catch([]),
  user: userSchema.nullish().catch(null),
  pull_request: z.unknown().optional(),
  comments: z.number().catch(1),
  updated_at: z.string().catch(''),
  closed_at: z.string().nullish().catch(null),
  html_url: z.string().catch(''),
  repository_url: z.string().catch(''),
});

export interface IssueSnapshot {
  readonly ref: IssueRef;
  readonly title: string;
  readonly body: string;
  /** sha256 of the body in hexadecimal. */
  readonly bodyHash: string;
  readonly open: boolean;
  readonly stateReason: string | null;
  readonly locked: boolean;
  readonly labels: readonly string[];
  readonly author: string;
  readonly pullRequest: boolean;
  readonly comments: number;
  /** GitHub's time of the last change, ISO 8601. */
  readonly updatedAt: string;
  readonly closedAt: string | null;
  readonly url: string;
}

export type IssueLook =
  | { readonly kind: 'issue'; readonly issue: IssueSnapshot }
  | { readonly kind: 'gone'; readonly why: 'deleted' | 'transferred' | 'not_found' };

/** sha256 of a body, by which an approval is remembered. */
export function hashBody(body: string | null | undefined): string {
  return createHash('sha256')
    .update(body ?? '', 'utf8')
    .digest('hex');
}

/** Reads an issue out of an answer. */
export function parseIssue(data: unknown, ref: IssueRef): IssueSnapshot {
  const parsed = issueSchema.safeParse(data);
  if (!parsed.success) throw unusable(`issue #${ref.number}`, parsed.error);
  const item = parsed.data;
  return {
    ref: { ...ref, number: item.number },
    title: item.title,
    body: item.body ?? '',
    bodyHash: hashBody(item.body),
    open: item.state === 'open',
    stateReason: item.state_reason ?? null,
    locked: item.locked,
    labels: item.labels.flatMap((label) => (typeof label === 'string' ? [label] : (label.name ?? []))),
    author: item.user?.login ?? 'ghost',
    pullRequest: item.pull_request !== undefined && item.pull_request !== null,
    comments: item.comments,
    updatedAt: item.updated_at,
    closedAt: item.closed_at ?? null,
    url: item.html_url,
  };
}

const repositorySchema = z.object({ id: z.number(), full_name: z.string() });

export interface IssueCalls {
  /** The issue as it is now, or how it is gone. Follows the redirect of a renamed repository. */
  issue(ref: IssueRef): Promise<IssueLook>;
}

export function makeIssueCalls(api: Api): IssueCalls {
  /** A redirect means a renamed repository or a transferred issue; only the repository's id tells which. */
  const afterRedirect = async (ref: IssueRef, reply: Reply): Promise<IssueLook> => {
    const parsed = issueSchema.safeParse(reply.data);
    if (!parsed.success) throw unusable(`issue #${ref.number}`, parsed.error);
    const name = parsed.data.repository_url.split('/').slice(-2).join('/');
    const [owner, repo] = name.split('/');
    const found = await api.asInstallation(ref.installation, 'GET /repos/{owner}/{repo}', { owner, repo });
    const repository = repositorySchema.safeParse(found.data);
    if (!repository.success) throw unusable(`repository ${name}`, repository.error);
    if (repository.data.id !== ref.repositoryId || parsed.data.number !== ref.number) {
      return { kind: 'gone', why: 'transferred' };
    }
    api.learn(ref.repositoryId, repository.data.full_name);
    return {
      kind: 'issue',
      issue: parseIssue(reply.data, { ...ref, repository: repository.data.full_name }),
    };
  };

  return {
    async issue(ref) {
      const route = 'GET /repos/{owner}/{repo}/issues/{issue_number}';
      try {
        const reply = await api.inRepository(ref, route, { issue_number: ref.number });
        const repository = api.nameOf(ref);
        const asked = `/repos/${repository}/issues/${ref.number}`.toLowerCase();
        const answered = decodeURIComponent(new URL(reply.url).pathname).toLowerCase();
        if (!answered.endsWith(asked)) return await afterRedirect(ref, reply);
        return { kind: 'issue', issue: parseIssue(reply.data, { ...ref, repository }) };
      } catch (error) {
        const failure = failureOf(error, 0);
        if (failure.kind !== 'gone') throw error;
        const deleted =
          typeof error === 'object' && error !== null && 'status' in error && error.status === 410;
        return { kind: 'gone', why: deleted ? 'deleted' : 'not_found' };
      }
    },
  };
}
