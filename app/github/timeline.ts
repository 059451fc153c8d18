/** What happened to an issue, as GitHub tells it: who set a label last, and how it was closed last. */
import { z } from 'zod';
import type { IssueRef } from '../../lanes/index.ts';
import { type Api, hasNext } from './api.ts';
import { unusable } from './failure.ts';
import { type User, userSchema } from './issue.ts';

const itemSchema = z.object({
  event: z.string().catch(''),
  actor: userSchema.nullish().catch(null),
  created_at: z.string().catch(''),
  label: z.object({ name: z.string() }).nullish().catch(null),
  commit_id: z.string().nullish().catch(null),
  source: z
    .object({
      issue: z.object({
        pull_request: z.object({ merged_at: z.string().nullish() }).nullish(),
      }),
    })
    .nullish()
    .catch(null),
});
type Item = z.infer<typeof itemSchema>;

export interface Labelling {
  readonly by: User;
  /** GitHub's time, ISO 8601. */
  readonly at: string;
}

export interface Closing {
  readonly by: User | null;
  /** By a commit or a merge, with or without anybody looking at the criteria. */
  readonly byMerge: boolean;
  readonly at: string;
}

const pullsSchema = z.array(
  z.object({
    title: z.string().nullish(),
    body: z.string().nullish(),
    merged_at: z.string().nullish().catch(null),
  }),
);

/** A pull request merged this shortly before the close is what closed it: REST does not name the closer. */
const mergeWindowMs = 60_000;
const maxPages = 30;

/** Whether a text asks GitHub to close this issue: its closing keywords, with `#n`, `owner/name#n` or the address. */
function saysItCloses(text: string, number: number): boolean {
  const target = `(?:(?:[\\w.-]+/[\\w.-]+)?#|https?://\\S+/issues/)${number}\\b`;
  return new RegExp(`\\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\\s+${target}`, 'i').test(text);
}

export interface TimelineCalls {
  /** Who set this label last, or null where the timeline does not say. */
  lastLabelling(ref: IssueRef, label: string): Promise<Labelling | null>;
  /** How the issue was closed last. */
  lastClosing(ref: IssueRef): Promise<Closing | null>;
}

export function makeTimelineCalls(api: Api): TimelineCalls {
  const items = async (ref: IssueRef): Promise<Item[]> => {
    const route = 'GET /repos/{owner}/{repo}/issues/{issue_number}/timeline';
    const all: Item[] = [];
    for (let page = 1; page <= maxPages; page += 1) {
      const reply = await api.inRepository(ref, route, { issue_number: ref.number, per_page: 100, page });
      const parsed = z.array(itemSchema).safeParse(reply.data);
      if (!parsed.success) throw unusable('timeline', parsed.error);
      all.push(...parsed.data);
      if (!hasNext(reply)) break;
    }
    return all;
  };

  /** Whether a pull request that was merged about then says that it closes the issue. */
  const mergedAbout = async (ref: IssueRef, closedMs: number): Promise<boolean> => {
    const route = 'GET /repos/{owner}/{repo}/pulls';
    const newest = { state: 'closed', sort: 'updated', direction: 'desc', per_page: 50 };
    const parsed = pullsSchema.safeParse((await api.inRepository(ref, route, newest)).data);
    if (!parsed.success) throw unusable('pull requests', parsed.error);
    return parsed.data.some(({ title, body, merged_at }) => {
      const shortly = Math.abs(Date.parse(merged_at ?? '') - closedMs) <= mergeWindowMs;
      return shortly && saysItCloses(`${title ?? ''}\n${body ?? ''}`, ref.number);
    });
  };

  return {
    async lastLabelling(ref, label) {
      const name = label.toLowerCase();
      const found = (await items(ref)).findLast(
        (item) => item.event === 'labeled' && item.label?.name.toLowerCase() === name,
      );
      return found?.actor ? { by: found.actor, at: found.created_at } : null;
    },
    async lastClosing(ref) {
      const all = await items(ref);
      const closed = all.findLast((item) => item.event === 'closed');
      if (!closed) return null;
      const closedMs = Date.parse(closed.created_at);
      const merged = all.some((item) => {
        const mergedMs = Date.parse(item.source?.issue.pull_request?.merged_at ?? '');
        return Math.abs(closedMs - mergedMs) <= mergeWindowMs;
      });
      const byMerge = (closed.commit_id ?? null) !== null || merged || (await mergedAbout(ref, closedMs));
      return {
        by: closed.actor ?? null,
        byMerge,
        at: closed.created_at,
      };
    },
  };
}
