/**
 * Pull requests, as far as issues feel them: a merge whose text says "fixes #n" closes that issue.
 *
 * emulate holds the pull requests themselves on commits of its own, so their commit ids are not those of git.
 * Rule: docs.github.com, "Linking a pull request to an issue": the keywords work for the default branch.
 */
import { branchOf, passOn, repoFacts, repoFor } from './access.ts';
import type { Answer, Call, Route } from './call.ts';
import { isObject, numberAt, param, Refusal, textAt, withJson } from './call.ts';
import { eventsBetween } from './changes.ts';
import { tell } from './events.ts';
import { may, refuseClosedRepo } from './limits.ts';
import { fullName, type RepoEntry } from './repos.ts';
import type { World } from './world.ts';

const keyword = /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#(\d+)/gi;

export function pullRoutes(world: World): Route[] {
  return [
    {
      method: 'POST',
      pattern: '/repos/:owner/:repo/pulls',
      handle: (call, params) => world.inTurn(() => open(world, call, params)),
    },
    {
      method: 'PUT',
      pattern: '/repos/:owner/:repo/pulls/:number/merge',
      handle: (call, params) => world.inTurn(() => merge(world, call, params)),
    },
  ];
}

async function open(world: World, call: Call, params: Record<string, string>): Promise<Answer> {
  const repo = await repoFor(world, call, param(params, 'owner'), param(params, 'repo'));
  await refuseClosedRepo(world, repo);
  const answer = await passOn(world, call);
  if (answer.status === 201) await tellPull(world, call, repo, 'opened', answer.body);
  return answer;
}

function tellPull(world: World, call: Call, repo: RepoEntry, action: string, pull: unknown): Promise<void> {
  const parts = { number: numberAt(pull, 'number'), pull_request: pull };
  return tell(world, repo, call.caller, [{ event: 'pull_request', action, parts }]);
}

async function merge(world: World, call: Call, params: Record<string, string>): Promise<Answer> {
  const repo = await repoFor(world, call, param(params, 'owner'), param(params, 'repo'));
  if (!(await may(world, call.caller, repo, 'push')))
    throw new Refusal(403, 'Must have push access to repository');
  const path = `/repos/${fullName(repo)}/pulls/${param(params, 'number')}`;
  const answer = await passOn(world, call);
  if (answer.status !== 200) return answer;
  const pull = await world.upstream.find(path);
  await tellPull(world, call, repo, 'closed', pull);
  const base = isObject(pull) ? textAt(pull.base, 'ref') : '';
  if (base !== branchOf(await repoFacts(world, repo))) return answer;
  const text = `${textAt(pull, 'title')}\n${textAt(pull, 'body')}`;
  const numbers = new Set([...text.matchAll(keyword)].map(([, number]) => Number(number)));
  for (const number of numbers) await closeIssue(world, call, repo, number);
  return answer;
}

async function closeIssue(world: World, call: Call, repo: RepoEntry, number: number): Promise<void> {
  const path = `/repos/${fullName(repo)}/issues/${number}`;
  const before = await world.upstream.find(path);
  if (!isObject(before) || before.state === 'closed') return;
  const closing = { state: 'closed', state_reason: 'completed' };
  await passOn(world, { ...withJson(call, closing), method: 'PATCH', path });
  const after = await world.upstream.find(path);
  if (isObject(after)) await tell(world, repo, call.caller, eventsBetween(before, after));
}
