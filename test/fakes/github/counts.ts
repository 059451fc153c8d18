/**
 * What was asked of GitHub: a count by kind, Apps and people apart, and a bounded log of requests.
 */
export interface Counts {
  token_mint: number;
  git: number;
  permission_read: number;
  issue_read: number;
  issue_list: number;
  issue_events: number;
  issue_patch: number;
  comment_post: number;
  comment_list: number;
  comment_other: number;
  reaction: number;
  contents: number;
  repository_list: number;
  label: number;
  other: number;
}

export type RequestKind = keyof Counts;
export type Side = 'apps' | 'people';

export interface RequestEntry {
  method: string;
  path: string;
  /** 0 until it is answered, and for ever if the connection was cut. */
  status: number;
  kind: RequestKind;
  side: Side;
}

const repo = '/repos/[^/]+/[^/]+';
const table: Array<[kind: RequestKind, method: string, path: RegExp]> = [
  ['token_mint', 'POST', /^\/app\/installations\/\d+\/access_tokens$/],
  ['git', '.*', /\/(info\/refs|git-upload-pack|git-receive-pack)$/],
  ['permission_read', 'GET', new RegExp(`^${repo}/collaborators/[^/]+/permission$`)],
  ['reaction', '.*', new RegExp(`^${repo}/issues/.+/reactions(/\\d+)?$`)],
  ['comment_post', 'POST', new RegExp(`^${repo}/issues/\\d+/comments$`)],
  ['comment_list', 'GET', new RegExp(`^${repo}/issues/(\\d+/)?comments$`)],
  ['comment_other', '.*', new RegExp(`^${repo}/issues/comments/\\d+$`)],
  ['label', '.*', new RegExp(`^${repo}/(issues/\\d+/)?labels(/.+)?$`)],
  ['issue_events', 'GET', new RegExp(`^${repo}/issues/\\d+/(events|timeline)$`)],
  ['issue_patch', 'PATCH', new RegExp(`^${repo}/issues/\\d+$`)],
  ['issue_read', 'GET', new RegExp(`^${repo}/issues/\\d+$`)],
  ['issue_list', 'GET', new RegExp(`^${repo}/issues$`)],
  ['contents', '.*', new RegExp(`^${repo}/(contents|git|branches|commits)(/.*)?$`)],
  ['repository_list', 'GET', /^\/(installation|user)\/repositories$/],
];

/** The kind of a request; the path has no query and no `/api/v3`. */
export function kindOf(method: string, path: string): RequestKind {
  const found = table.find(([, verb, shape]) => new RegExp(`^${verb}$`).test(method) && shape.test(path));
  return found?.[0] ?? 'other';
}

/**
 * Apps call with a JWT or an installation token, people with a personal token or none. Git without a token is taken for
 * an App at work.
 */
export function sideOf(authorization: string | undefined, git: boolean): Side {
  const [, basic] = /^basic\s+(\S+)$/i.exec(authorization ?? '') ?? [];
  const credential = basic ? Buffer.from(basic, 'base64').toString('utf8') : authorization;
  if (!credential) return git ? 'apps' : 'people';
  return /(^|[\s:])(ghs_|eyJ)/.test(credential) ? 'apps' : 'people';
}

const keptRequests = 5_000;

export class RequestLog {
  readonly entries: RequestEntry[] = [];
  #counts = empty();

  add(entry: RequestEntry): void {
    this.#counts[entry.side][entry.kind]++;
    this.entries.push(entry);
    if (this.entries.length > keptRequests) this.entries.shift();
  }

  /** Requests since the last reset, of Apps unless people are asked for. */
  counts(side: Side = 'apps'): Counts {
    return { ...this.#counts[side] };
  }

  reset(): void {
    this.#counts = empty();
    this.entries.length = 0;
  }
}

function empty(): Record<Side, Counts> {
  return { apps: zeros(), people: zeros() };
}

function zeros(): Counts {
  return {
    token_mint: 0,
    git: 0,
    permission_read: 0,
    issue_read: 0,
    issue_list: 0,
    issue_events: 0,
    issue_patch: 0,
    comment_post: 0,
    comment_list: 0,
    comment_other: 0,
    reaction: 0,
    contents: 0,
    repository_list: 0,
    label: 0,
    other: 0,
  };
}
