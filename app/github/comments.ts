/** The comments of an issue: all pages for finding our own, the newest by permitted people for an agent. */
import { z } from 'zod';
import type { IssueRef } from '../../lanes/index.ts';
import { type Api, hasNext } from './api.ts';
import { unusable } from './failure.ts';
import { userSchema } from './issue.ts';

const commentSchema = z.object({
  id: z.number(),
  body: z.string().nullish().catch(''),
  user: userSchema.nullish().catch(null),
  performed_via_github_app: z.object({ id: z.number() }).nullish().catch(null),
  created_at: z.string().catch(''),
});

export interface Comment {
  readonly id: number;
  readonly body: string;
  readonly login: string;
  readonly bot: boolean;
  /** By this App, as GitHub says; not as the text says. */
  readonly ours: boolean;
  readonly atMs: number;
}

/** A guard against a listing without an end; 100 comments a page. */
const maxPages = 100;
const maxForAgent = 200;
const maxAuthors = 30;

export interface CommentCalls {
  /** Every comment, oldest first. */
  comments(ref: IssueRef): Promise<Comment[]>;
  /** The newest comments by people who are permitted now, at most 200, oldest first. Bots and ours are left out. */
  permittedComments(ref: IssueRef, permitted: (login: string) => Promise<boolean>): Promise<Comment[]>;
}

export function makeCommentCalls(
  api: Api,
  app: { readonly id: number; readonly slug: string },
): CommentCalls {
  const parse = (data: unknown): Comment[] => {
    const parsed = z.array(commentSchema).safeParse(data);
    if (!parsed.success) throw unusable('comments', parsed.error);
    return parsed.data.map((item) => ({
      id: item.id,
      body: item.body ?? '',
      login: item.user?.login ?? 'ghost',
      bot: item.user?.type === 'Bot',
      ours: item.user?.login === `${app.slug}[bot]` || item.performed_via_github_app?.id === app.id,
      atMs: Date.parse(item.created_at) || 0,
    }));
  };

  const comments = async (ref: IssueRef): Promise<Comment[]> => {
    const route = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments';
    const all: Comment[] = [];
    for (let page = 1; page <= maxPages; page += 1) {
      const reply = await api.inRepository(ref, route, { issue_number: ref.number, per_page: 100, page });
      all.push(...parse(reply.data));
      if (!hasNext(reply)) break;
    }
    return all.sort((a, b) => a.id - b.id);
  };

  return {
    comments,
    async permittedComments(ref, permitted) {
      const verdicts = new Map<string, boolean>();
      const kept: Comment[] = [];
      for (const comment of (await comments(ref)).reverse()) {
        if (kept.length >= maxForAgent) break;
        if (comment.bot || comment.ours) continue;
        if (!verdicts.has(comment.login)) {
          if (verdicts.size >= maxAuthors) continue;
          verdicts.set(comment.login, await permitted(comment.login));
        }
        if (verdicts.get(comment.login) === true) kept.push(comment);
      }
      return kept.reverse();
    },
  };
}
