/**
 * What a caller may see: emulate's own answer to the caller's read, with GitHub's 404 in place of a plain refusal.
 */
import type { Answer, Call, Caller } from './call.ts';
import { at, isObject, Refusal } from './call.ts';
import { innerAuthorization } from './callers.ts';
import { fullName, type RepoEntry } from './repos.ts';
import type { World } from './world.ts';

/** Passes a call on to emulate as its caller. */
export function passOn(world: World, call: Call): Promise<Answer> {
  const query = withMilliseconds(call.query).toString();
  return world.upstream.send({
    method: call.method,
    path: query ? `${call.path}?${query}` : call.path,
    authorization: innerAuthorization(world, call),
    body: call.body,
  });
}

/** emulate compares `since` as text with times that have milliseconds. */
function withMilliseconds(query: URLSearchParams): URLSearchParams {
  const since = query.get('since');
  if (since === null || Number.isNaN(Date.parse(since))) return query;
  const exact = new URLSearchParams(query);
  exact.set('since', new Date(since).toISOString());
  return exact;
}

/** The repository as far as the caller can see it: whether it is private; undefined if it is hidden. */
export async function visible(
  world: World,
  caller: Caller,
  repo: RepoEntry,
): Promise<{ private: boolean } | undefined> {
  const probe: Call = {
    method: 'GET',
    path: `/repos/${fullName(repo)}`,
    query: new URLSearchParams(),
    headers: {},
    body: Buffer.alloc(0),
    caller,
  };
  const answer = await passOn(world, probe);
  return answer.status === 200 && isObject(answer.body)
    ? { private: answer.body.private === true }
    : undefined;
}

/** The repository named by the path, if the caller can see it; throws 404 otherwise. */
export async function repoFor(world: World, call: Call, owner: string, name: string): Promise<RepoEntry> {
  const repo = world.repos.demand(owner, name);
  if (!(await visible(world, call.caller, repo))) throw new Refusal(404, 'Not Found');
  return repo;
}

/** The repository as emulate describes it, read by the proxy itself. */
export async function repoFacts(world: World, repo: RepoEntry): Promise<Record<string, unknown>> {
  const facts = await world.upstream.find(`/repos/${fullName(repo)}`);
  if (!isObject(facts)) throw new Refusal(404, 'Not Found');
  return facts;
}

/** Throws 403 unless an installation token carries the permission; other callers pass. */
export function needPermission(caller: Caller, name: string, level: 'read' | 'write'): void {
  if (caller.kind !== 'installation') return;
  const granted = caller.token.permissions[name];
  if (granted === 'write' || granted === level) return;
  throw new Refusal(403, 'Resource not accessible by integration');
}

export function branchOf(facts: unknown): string {
  const branch = at(facts, 'default_branch');
  return typeof branch === 'string' ? branch : 'main';
}
