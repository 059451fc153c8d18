/**
 * Comments on issues: strict limits, authors' rights, and the `issue_comment` events.
 */
import { passOn, repoFor } from './access.ts';
import type { Answer, Call, JsonObject, Route } from './call.ts';
import { isObject, jsonOf, objectsIn, param, Refusal, textAt } from './call.ts';
import { issueAt } from './changes.ts';
import { loginOf, tell } from './events.ts';
import { checkTexts, may, refuseClosedRepo, refuseFrozen } from './limits.ts';
import { paged } from './paging.ts';
import { fullName, type RepoEntry } from './repos.ts';
import type { World } from './world.ts';

export function commentRoutes(world: World): Route[] {
  const one = '/repos/:owner/:repo/issues/comments/:id';
  return [
    {
      method: 'GET',
      pattern: '/repos/:owner/:repo/issues/comments',
      handle: (call, params) => listAll(world, call, params),
    },
    {
      method: 'POST',
      pattern: '/repos/:owner/:repo/issues/:number/comments',
      handle: (call, params) => world.inTurn(() => create(world, call, params)),
    },
    {
      method: 'PATCH',
      pattern: one,
      handle: (call, params) => world.inTurn(() => edit(world, call, params)),
    },
    {
      method: 'DELETE',
      pattern: one,
      handle: (call, params) => world.inTurn(() => remove(world, call, params)),
    },
  ];
}

async function create(world: World, call: Call, params: Record<string, string>): Promise<Answer> {
  const repo = await repoFor(world, call, param(params, 'owner'), param(params, 'repo'));
  const issuePath = `/repos/${fullName(repo)}/issues/${param(params, 'number')}`;
  checkTexts('IssueComment', jsonOf(call));
  await refuseFrozen(world, call.caller, repo, issuePath, 'Unable to create comment');
  const answer = await passOn(world, call);
  if (answer.status !== 201) return answer;
  const parts = { issue: await issueAt(world, issuePath), comment: answer.body };
  await tell(world, repo, call.caller, [{ event: 'issue_comment', action: 'created', parts }]);
  return answer;
}

async function edit(world: World, call: Call, params: Record<string, string>): Promise<Answer> {
  checkTexts('IssueComment', jsonOf(call));
  const { repo, before, issue } = await ownComment(world, call, params);
  const answer = await passOn(world, call);
  if (answer.status >= 400) return answer;
  const changes = { body: { from: textAt(before, 'body') } };
  const parts = { changes, issue, comment: answer.body };
  await tell(world, repo, call.caller, [{ event: 'issue_comment', action: 'edited', parts }]);
  return answer;
}

async function remove(world: World, call: Call, params: Record<string, string>): Promise<Answer> {
  const { repo, before, issue } = await ownComment(world, call, params);
  const answer = await passOn(world, call);
  if (answer.status >= 400) return answer;
  const parts = { issue, comment: before };
  await tell(world, repo, call.caller, [{ event: 'issue_comment', action: 'deleted', parts }]);
  return answer;
}

interface Found {
  repo: RepoEntry;
  before: JsonObject;
  issue: JsonObject | undefined;
}

/** The comment, if the caller wrote it or may write to the repository. */
async function ownComment(world: World, call: Call, params: Record<string, string>): Promise<Found> {
  const repo = await repoFor(world, call, param(params, 'owner'), param(params, 'repo'));
  await refuseClosedRepo(world, repo);
  const before = await world.upstream.find(call.path);
  if (!isObject(before)) throw new Refusal(404, 'Not Found');
  const author = textAt(before, 'user', 'login') === loginOf(call.caller);
  if (!author && !(await may(world, call.caller, repo, 'push'))) {
    throw new Refusal(403, 'Must have push access to change a comment of someone else');
  }
  const issue = await issueAt(world, new URL(textAt(before, 'issue_url')).pathname);
  return { repo, before, issue };
}

/** All comments of a repository, `since` a time if asked; emulate takes this path for an issue's. */
async function listAll(world: World, call: Call, params: Record<string, string>): Promise<Answer> {
  const repo = await repoFor(world, call, param(params, 'owner'), param(params, 'repo'));
  const since = Date.parse(call.query.get('since') ?? '') || 0;
  const found: JsonObject[] = [];
  for (const issue of await everyPage(world, `/repos/${fullName(repo)}/issues?state=all`)) {
    const comments = await everyPage(world, `/repos/${fullName(repo)}/issues/${issue.number}/comments?`);
    found.push(...comments.filter((one) => Date.parse(textAt(one, 'updated_at')) >= since));
  }
  const field = call.query.get('sort') === 'updated' ? 'updated_at' : 'created_at';
  const sign = call.query.get('direction') === 'desc' ? -1 : 1;
  const key = (one: JsonObject) => Date.parse(textAt(one, field));
  found.sort((a, b) => sign * (key(a) - key(b) || Number(a.id) - Number(b.id)));
  return paged(world, call, found);
}

async function everyPage(world: World, path: string): Promise<JsonObject[]> {
  const all: JsonObject[] = [];
  for (let page = 1; ; page++) {
    const items = objectsIn(await world.upstream.find(`${path}&per_page=100&page=${page}`));
    all.push(...items);
    if (items.length < 100) return all;
  }
}
