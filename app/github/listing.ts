/** What the label scan walks: installations, their repositories, and open issues that have a label. */
import { z } from 'zod';
import type { IssueRef } from '../../lanes/index.ts';
import { type Api, hasNext, type InstalledRepository, type RepositoryRef } from './api.ts';
import { statusOf, unusable } from './failure.ts';

const installationsSchema = z.array(
  z.object({ id: z.number(), suspended_at: z.string().nullish().catch(null) }),
);
const issuesSchema = z.array(
  z.object({ number: z.number(), updated_at: z.string().catch(''), pull_request: z.unknown().optional() }),
);

/** An open issue that has the label, as the listing shows it. */
export interface ListedIssue {
  readonly ref: IssueRef;
  /** GitHub's time of its last change, ISO 8601. */
  readonly updatedAt: string;
}

export interface ListingCalls {
  /** The ids of the installations that are not suspended. */
  installations(): Promise<number[]>;
  repositories(installation: number): AsyncGenerator<InstalledRepository[]>;
  /** Open issues with a label, newest change first. An unchanged list costs no request against the limit. */
  labelled(ref: RepositoryRef, label: string): Promise<readonly ListedIssue[]>;
}

const maxPages = 10;
const maxKept = 20_000;

export function makeListingCalls(api: Api): ListingCalls {
  const kept = new Map<string, { etag: string; issues: readonly ListedIssue[] }>();

  const page = async (ref: RepositoryRef, label: string, number: number, etag?: string) => {
    const reply = await api.inRepository(ref, 'GET /repos/{owner}/{repo}/issues', {
      labels: label,
      state: 'open',
      sort: 'updated',
      direction: 'desc',
      per_page: 100,
      page: number,
      ...(etag === undefined ? {} : { headers: { 'if-none-match': etag } }),
    });
    const parsed = issuesSchema.safeParse(reply.data);
    if (!parsed.success) throw unusable('issues', parsed.error);
    const issues = parsed.data
      .filter((item) => item.pull_request === undefined || item.pull_request === null)
      .map((item) => ({
        ref: {
          installation: ref.installation,
          repositoryId: ref.repositoryId,
          repository: api.nameOf(ref),
          number: item.number,
        },
        updatedAt: item.updated_at,
      }));
    return { issues, more: hasNext(reply), etag: reply.headers.etag };
  };

  return {
    repositories: api.repositories,
    async installations() {
      const ids: number[] = [];
      for (let number = 1; number <= maxPages * 10; number += 1) {
        const reply = await api.asApp('GET /app/installations', { per_page: 100, page: number });
        const parsed = installationsSchema.safeParse(reply.data);
        if (!parsed.success) throw unusable('installations', parsed.error);
        for (const item of parsed.data) if ((item.suspended_at ?? null) === null) ids.push(item.id);
        if (!hasNext(reply)) break;
      }
      return ids;
    },
    async labelled(ref, label) {
      const key = `${ref.repositoryId}\n${label}`;
      const last = kept.get(key);
      try {
        const first = await page(ref, label, 1, last?.etag);
        const issues: ListedIssue[] = [...first.issues];
        let more = first.more;
        for (let number = 2; more && number <= maxPages; number += 1) {
          const next = await page(ref, label, number);
          issues.push(...next.issues);
          more = next.more;
        }
        if (!kept.has(key) && kept.size >= maxKept) kept.clear();
        if (first.etag !== undefined) kept.set(key, { etag: String(first.etag), issues });
        return issues;
      } catch (error) {
        if (statusOf(error) === 304 && last) return last.issues;
        throw error;
      }
    },
  };
}
