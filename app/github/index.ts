/** All that the App asks of GitHub, put together. Each consumer declares the part that it needs. */
import { type Api, makeApi } from './api.ts';
import type { Clients } from './client.ts';
import { type CommentCalls, makeCommentCalls } from './comments.ts';
import { type EvidenceCalls, makeEvidenceCalls } from './evidence.ts';
import { type IssueCalls, makeIssueCalls } from './issue.ts';
import { type LabelCalls, makeLabelCalls } from './labels.ts';
import { type ListingCalls, makeListingCalls } from './listing.ts';
import { makePeopleCalls, type PeopleCalls } from './people.ts';
import { makeRepositoryFileCalls, type ParsedFile, type RepositoryFileCalls } from './repository-file.ts';
import { makeTimelineCalls, type TimelineCalls } from './timeline.ts';
import { makeTokenCalls, type TokenCalls } from './tokens.ts';
import { makeWriteCalls, type WriteCalls } from './writes.ts';

/** Who the App is on GitHub. Its comments come from `<slug>[bot]`. */
export interface AppIdentity {
  readonly id: number;
  readonly slug: string;
}

export type GitHub = Pick<Api, 'learn'> &
  IssueCalls &
  PeopleCalls &
  CommentCalls &
  TimelineCalls &
  WriteCalls &
  LabelCalls &
  ListingCalls &
  TokenCalls &
  EvidenceCalls &
  RepositoryFileCalls;

export interface GitHubDeps {
  readonly clients: Clients;
  readonly app: AppIdentity;
  /** Clone base: `http(s)://` or `file://`. */
  readonly serverUrl: string;
  readonly parseRepositoryFile: (text: string) => ParsedFile;
  readonly now: () => number;
}

export function makeGitHub(deps: GitHubDeps): GitHub {
  const api = makeApi(deps.clients);
  return {
    learn: api.learn,
    ...makeIssueCalls(api),
    ...makePeopleCalls(api),
    ...makeCommentCalls(api, deps.app),
    ...makeTimelineCalls(api),
    ...makeWriteCalls(api),
    ...makeLabelCalls(api),
    ...makeListingCalls(api),
    ...makeTokenCalls(api, deps.serverUrl),
    ...makeEvidenceCalls(api),
    ...makeRepositoryFileCalls({ api, parse: deps.parseRepositoryFile, now: deps.now }),
  };
}
