/**
 * Posting a comment once, as far as GitHub can be read. The intent is put down before the POST. Whenever an earlier
 * attempt may have happened, all comments are read back first. A POST that was given up can still land later: such a
 * twin is deleted, the older comment stays.
 */
import { z } from 'zod';
import { githubNamespace, type IssueRef } from '../../lanes/index.ts';
import type { Comment } from '../github/comments.ts';
import { failureOf } from '../github/failure.ts';
import type { Pace } from './pace.ts';
import type { BrokerDeps } from './port.ts';

const intentSchema = z.discriminatedUnion('state', [
  /** A POST was about to be sent: it may have happened. */
  z.object({ state: z.literal('trying') }),
  /** The POST was refused for sure. */
  z.object({ state: z.literal('refused') }),
  /** `doubted`: an earlier attempt may still land. */
  z.object({ state: z.literal('posted'), comment: z.number(), doubted: z.boolean() }),
]);
type Intent = z.infer<typeof intentSchema>;

/** A comment that is to be there once. */
export interface Post {
  /** Names the occasion, for ever. */
  readonly key: string;
  readonly issue: IssueRef;
  readonly body: string;
  /** Whether a comment by this App is this one. */
  readonly isSame: (body: string) => boolean;
}

export interface Poster {
  /** Posts, or finds what was posted; tells the comment's id. Failures of GitHub are thrown, to be tried again. */
  post(post: Post): Promise<number>;
  /** The comment of an earlier post, or null where none is known. */
  posted(key: string): Promise<number | null>;
  /** Deletes twins that landed late of posts that were in doubt. */
  sweepTwins(): Promise<void>;
}

interface Watch {
  readonly post: Omit<Post, 'body'>;
  readonly dueMs: number;
}

/** When a post that was in doubt is looked at again for a twin. */
const firstTwinLookMs = 15_000;
const twinLooksMs = [firstTwinLookMs, 120_000];
const maxWatched = 1_000;

export function makePoster({ desk, engine }: BrokerDeps, pace: Pace): Poster {
  const caller = () => desk.caller(githubNamespace);
  const watched: Watch[] = [];

  const intentOf = async (key: string): Promise<Intent | null> => {
    const parsed = intentSchema.safeParse(await engine.intents.get(caller(), key));
    return parsed.success ? parsed.data : null;
  };
  const put = (key: string, intent: Intent) => engine.intents.put(caller(), key, intent);

  /** Our comments of this post, oldest first; the twins are deleted. */
  const readBack = async (post: Omit<Post, 'body'>): Promise<Comment | undefined> => {
    const all = await desk.github.comments(post.issue);
    const [oldest, ...twins] = all.filter((comment) => comment.ours && post.isSame(comment.body));
    for (const twin of twins) {
      await pace.turn(post.issue.installation);
      await desk.github.deleteComment(post.issue, twin.id);
      desk.log('info', 'a twin of a comment was deleted', { key: post.key, comment: twin.id });
    }
    return oldest;
  };

  const send = async (post: Post, doubted: boolean): Promise<number> => {
    await put(post.key, { state: 'trying' });
    await pace.turn(post.issue.installation);
    try {
      const comment = await desk.github.createComment(post.issue, post.body);
      await put(post.key, { state: 'posted', comment, doubted });
      return comment;
    } catch (error) {
      const { kind } = failureOf(error, desk.now());
      // A doubt about an earlier attempt is not settled by a refusal of this one.
      if (kind !== 'doubt' && !doubted) await put(post.key, { state: 'refused' });
      throw error;
    }
  };

  const lookForTwin = async (watch: Watch): Promise<void> => {
    try {
      const oldest = await readBack(watch.post);
      if (oldest) await put(watch.post.key, { state: 'posted', comment: oldest.id, doubted: true });
    } catch (error) {
      const { kind, message } = failureOf(error, desk.now());
      desk.log('warn', 'could not look for a twin', { key: watch.post.key, error: message });
      const again = kind === 'doubt' || kind === 'limited';
      if (again) watched.push({ post: watch.post, dueMs: desk.now() + firstTwinLookMs });
    }
  };

  return {
    async posted(key) {
      const intent = await intentOf(key);
      return intent?.state === 'posted' ? intent.comment : null;
    },
    async post(post) {
      const intent = await intentOf(post.key);
      if (intent?.state === 'posted') return intent.comment;
      const doubted = intent?.state === 'trying';
      const found = doubted ? await readBack(post) : undefined;
      const comment = found?.id ?? (await send(post, doubted));
      if (found) await put(post.key, { state: 'posted', comment, doubted });
      if (doubted) {
        const { body: _, ...watch } = post;
        for (const afterMs of twinLooksMs) watched.push({ post: watch, dueMs: desk.now() + afterMs });
        if (watched.length > maxWatched) watched.splice(0, watched.length - maxWatched);
      }
      return comment;
    },
    async sweepTwins() {
      const nowMs = desk.now();
      for (const watch of watched.filter((one) => one.dueMs <= nowMs)) {
        watched.splice(watched.indexOf(watch), 1);
        await lookForTwin(watch);
      }
    },
  };
}
