/**
 * From the path that was asked to the path that is meant: `/api/v3`, repository ids, former names, lost issues.
 *
 * GitHub answers a renamed repository and a transferred issue with 301 for reads and 307 for writes, a deleted issue
 * with 410.
 */
import { Refusal } from './call.ts';
import { fullName, type RepoEntry } from './repos.ts';
import type { World } from './world.ts';

/** Without the prefix that GitHub Enterprise Server has. */
export function withoutPrefix(path: string): string {
  return path.replace(/^\/api\/v3(?=\/|$)/, '') || '/';
}

/** The path under the repository's present name; throws the redirect or the 410 where there is one. */
export function presentPath(world: World, method: string, path: string, query: string): string {
  const named = byName(path) ?? byId(world, path);
  if (!named) return path;
  const { owner, name, rest } = named;
  const repo = world.repos.named(owner, name);
  if (!repo) {
    const moved = world.repos.formerly(owner, name);
    if (moved) throw redirect(method, `${world.url}/repositories/${moved.id}${rest}${query}`);
    return path;
  }
  refuseLostIssue(world, method, repo, rest, query);
  return `/repos/${fullName(repo)}${rest}`;
}

interface Named {
  owner: string;
  name: string;
  rest: string;
}

function byName(path: string): Named | undefined {
  const [, owner, name, rest] = /^\/repos\/([^/]+)\/([^/]+)(\/.*)?$/.exec(path) ?? [];
  return owner && name ? { owner, name, rest: rest ?? '' } : undefined;
}

function byId(world: World, path: string): Named | undefined {
  const [, id, rest] = /^\/repositories\/(\d+)(\/.*)?$/.exec(path) ?? [];
  const repo = id ? world.repos.byId(Number(id)) : undefined;
  return repo && { owner: repo.owner, name: repo.name, rest: rest ?? '' };
}

function refuseLostIssue(world: World, method: string, repo: RepoEntry, rest: string, query: string): void {
  const [, number, tail] = /^\/issues\/(\d+)(\/.*)?$/.exec(rest) ?? [];
  const fate = number ? world.repos.fate(repo, Number(number)) : undefined;
  if (fate?.kind === 'deleted') throw new Refusal(410, 'This issue was deleted');
  if (fate?.kind === 'transferred') {
    const place = `/repositories/${fate.repo.id}/issues/${fate.number}`;
    throw redirect(method, `${world.url}${place}${tail ?? ''}${query}`);
  }
}

function redirect(method: string, location: string): Refusal {
  const read = method === 'GET' || method === 'HEAD';
  const extra = { url: location };
  return read
    ? new Refusal(301, 'Moved Permanently', extra, { location })
    : new Refusal(307, 'Temporary Redirect', extra, { location });
}
