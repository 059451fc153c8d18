/**
 * Payloads of the webhooks that we handle, parsed once at the edge. Lenient: GitHub adds fields at any time, and what we
 * do not use may be odd. What we key by must be there, or the delivery is invalid.
 */
import { z } from 'zod';
import type { Actor, IssueRef, Sender } from '../../lanes/index.ts';
import { userSchema } from '../github/issue.ts';

const installationSchema = z.object({ id: z.int().positive() });
const repositorySchema = z.object({
  id: z.int().positive(),
  full_name: z.string().regex(/^[^/\s]+\/[^/\s]+$/),
  archived: z.boolean().catch(false).default(false),
});
const labelSchema = z.object({ name: z.string().min(1) });

const issueSchema = z.object({
  number: z.int().positive(),
  title: z.string().optional().catch(undefined),
  body: z.string().nullish().catch(undefined),
  labels: z.array(labelSchema).catch([]).default([]),
  pull_request: z.unknown().optional(),
  closed_at: z.string().nullish().catch(null),
});

const changesSchema = z
  .object({
    title: z.object({}).optional().catch(undefined),
    body: z
      .object({ from: z.string().nullish().catch(null) })
      .optional()
      .catch(undefined),
  })
  .catch({})
  .default({});

/** `issues.*` */
export const issuesPayloadSchema = z.object({
  installation: installationSchema,
  repository: repositorySchema,
  sender: userSchema,
  issue: issueSchema,
  label: labelSchema.optional().catch(undefined),
  changes: changesSchema,
});
export type IssuesPayload = z.infer<typeof issuesPayloadSchema>;

/** `issue_comment.created` */
export const commentPayloadSchema = z.object({
  installation: installationSchema,
  repository: repositorySchema,
  sender: userSchema,
  issue: issueSchema,
  comment: z.object({
    id: z.int().positive(),
    body: z.string().nullish().catch(''),
    user: userSchema.nullish().catch(null),
  }),
});
export type CommentPayload = z.infer<typeof commentPayloadSchema>;

const shortRepositorySchema = z.object({ id: z.int().positive(), full_name: z.string() });

/** `installation.*` and `installation_repositories.*` */
export const installationPayloadSchema = z.object({
  installation: installationSchema,
  repositories: z.array(shortRepositorySchema).nullish().catch([]),
  repositories_added: z.array(shortRepositorySchema).nullish().catch([]),
  repositories_removed: z.array(shortRepositorySchema).nullish().catch([]),
});
export type InstallationPayload = z.infer<typeof installationPayloadSchema>;

/** The issue that a payload is about. */
export function refOf(payload: Pick<IssuesPayload, 'installation' | 'repository' | 'issue'>): IssueRef {
  return {
    installation: payload.installation.id,
    repositoryId: payload.repository.id,
    repository: payload.repository.full_name,
    number: payload.issue.number,
  };
}

/** Who caused a payload, as the rules look at it. `slug` is the App's. */
export function senderOf(payload: Pick<IssuesPayload, 'sender'>, slug: string): Sender & Actor {
  const { login, id, type } = payload.sender;
  return { login, id, bot: type === 'Bot', ours: login === `${slug}[bot]` };
}

/** Who caused a payload, as records keep it. */
export function actorOf(payload: Pick<IssuesPayload, 'sender'>): Actor {
  return { login: payload.sender.login, id: payload.sender.id };
}

/** Whether the payload is about a pull request: GitHub sends those as issues too. */
export function isPullRequest(payload: Pick<IssuesPayload, 'issue'>): boolean {
  return payload.issue.pull_request !== undefined && payload.issue.pull_request !== null;
}
