/** The few changes that we make on GitHub. Only the broker calls them, apart from labels. */
import { z } from 'zod';
import type { IssueRef } from '../../lanes/index.ts';
import type { Api } from './api.ts';
import { unusable } from './failure.ts';

const createdSchema = z.object({ id: z.number() });

export interface WriteCalls {
  /** Posts a comment and tells its id. Never repeated by the client: a failed POST may have happened. */
  createComment(ref: IssueRef, body: string): Promise<number>;
  deleteComment(ref: IssueRef, comment: number): Promise<void>;
  close(ref: IssueRef, stateReason: 'completed' | 'not_planned'): Promise<void>;
  reopen(ref: IssueRef): Promise<void>;
  /** GitHub keeps one reaction of a kind by the same user, so that a repetition changes nothing. */
  react(ref: IssueRef, content: 'eyes' | 'confused' | '+1', comment?: number): Promise<void>;
}

export function makeWriteCalls(api: Api): WriteCalls {
  const patch = (ref: IssueRef, change: Readonly<Record<string, string>>) =>
    api.inRepository(ref, 'PATCH /repos/{owner}/{repo}/issues/{issue_number}', {
      issue_number: ref.number,
      ...change,
    });

  return {
    async createComment(ref, body) {
      const route = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments';
      const reply = await api.inRepository(ref, route, { issue_number: ref.number, body });
      const parsed = createdSchema.safeParse(reply.data);
      if (!parsed.success) throw unusable('a new comment', parsed.error);
      return parsed.data.id;
    },
    async deleteComment(ref, comment) {
      const route = 'DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}';
      await api.inRepository(ref, route, { comment_id: comment });
    },
    async close(ref, stateReason) {
      await patch(ref, { state: 'closed', state_reason: stateReason });
    },
    async reopen(ref) {
      await patch(ref, { state: 'open' });
    },
    async react(ref, content, comment) {
      if (comment === undefined) {
        const route = 'POST /repos/{owner}/{repo}/issues/{issue_number}/reactions';
        await api.inRepository(ref, route, { issue_number: ref.number, content });
        return;
      }
      const route = 'POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions';
      await api.inRepository(ref, route, { comment_id: comment, content });
    },
  };
}
