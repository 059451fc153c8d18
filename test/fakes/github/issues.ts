/**
 * Everything that changes an issue, and the events that tell of it.
 *
 * emulate makes the change; the events are read off the issue before and after it, so that their order, labels and
 * `changes` are GitHub's. Opening an issue with labels gives `opened` and one `labeled` for each of them.
 */
import { passOn, repoFor } from './access.ts';
import type { Answer, Call, Caller, JsonObject, Route } from './call.ts';
import {
  anyJsonOf,
  isObject,
  jsonOf,
  numberAt,
  objectsIn,
  param,
  Refusal,
  textAt,
  withJson,
} from './call.ts';
import { asIssue, eventsBetween, issueAt } from './changes.ts';
import { loginOf, type RepoEvent, tell } from './events.ts';
import { labelNames, spelled } from './labels.ts';
import { checkLabelCount, checkLabelName, checkTexts, may, refuseClosedRepo } from './limits.ts';
import { fullName, type RepoEntry } from './repos.ts';
import type { World } from './world.ts';

const oneIssue = '/repos/:owner/:repo/issues/:number';

export function issueRoutes(world: World): Route[] {
  const changing = (method: string, tail: string, prepare: Prepare): Route => ({
    method,
    pattern: `${oneIssue}${tail}`,
    handle: (call, params) => world.inTurn(() => change(world, call, params, prepare)),
  });
  return [
    {
      method: 'GET',
      pattern: '/repos/:owner/:repo/issues',
      handle: (call, params) => list(world, call, params),
    },
    {
      method: 'POST',
      pattern: '/repos/:owner/:repo/issues',
      handle: (call, params) => world.inTurn(() => openIssue(world, call, params)),
    },
    { method: 'GET', pattern: oneIssue, handle: (call) => readOne(world, call) },
    changing('PATCH', '', preparePatch),
    changing('POST', '/labels', prepareLabels),
    changing('PUT', '/labels', prepareLabels),
    changing('DELETE', '/labels', prepareNoLabels),
    changing('DELETE', '/labels/:name', needTriage),
    changing('POST', '/assignees', needTriage),
    changing('DELETE', '/assignees', needTriage),
    changing('PUT', '/lock', needPush),
    changing('DELETE', '/lock', needPush),
  ];
}

/** Deleted and transferred issues are left out of lists. */
async function list(world: World, call: Call, params: Record<string, string>): Promise<Answer> {
  const repo = await repoFor(world, call, param(params, 'owner'), param(params, 'repo'));
  const answer = await passOn(world, call);
  if (answer.status !== 200) {
    await refuseClosedRepo(world, repo);
    return answer;
  }
  const present = objectsIn(answer.body).filter(
    (issue) => !world.repos.fate(repo, numberAt(issue, 'number')),
  );
  return { ...answer, body: present };
}

/** A pull request is an issue too, with `pull_request` set. */
async function readOne(world: World, call: Call): Promise<Answer> {
  const answer = await passOn(world, call);
  if (answer.status !== 404) return answer;
  const pull = await passOn(world, { ...call, path: call.path.replace('/issues/', '/pulls/') });
  return pull.status === 200 && isObject(pull.body) ? { ...pull, body: asIssue(pull.body) } : answer;
}

/** Opens an issue. Labels of people without triage permission are dropped in silence, as GitHub does. */
export async function openIssue(
  world: World,
  call: Call,
  params: Record<string, string>,
  asTemplate = false,
): Promise<Answer> {
  const repo = await repoFor(world, call, param(params, 'owner'), param(params, 'repo'));
  await refuseClosedRepo(world, repo);
  const { labels: asked, ...body } = jsonOf(call);
  checkTexts('Issue', body);
  const mayLabel = asTemplate || (await may(world, call.caller, repo, 'triage'));
  const labels = mayLabel ? await spelled(world, repo, labelNames(asked)) : [];
  labels.forEach(checkLabelName);
  checkLabelCount(labels);
  const opened = await passOn(world, withJson(call, body));
  if (opened.status !== 201) return opened;
  const path = `/repos/${fullName(repo)}/issues/${numberAt(opened.body, 'number')}`;
  if (labels.length > 0) await passOn(world, { ...withJson(call, { labels }), path: `${path}/labels` });
  const issue = await world.upstream.find(path);
  const told = objectsIn(isObject(issue) ? issue.labels : []).map(
    (label): RepoEvent => ({ event: 'issues', action: 'labeled', parts: { issue, label } }),
  );
  await tell(world, repo, call.caller, [{ event: 'issues', action: 'opened', parts: { issue } }, ...told]);
  return { ...opened, body: issue };
}

interface Change {
  world: World;
  repo: RepoEntry;
  before: JsonObject;
}

/** Checks rights and limits, and gives back the calls that make the change in emulate. */
type Prepare = (change: Change, call: Call) => Promise<Call[]>;

async function change(
  world: World,
  call: Call,
  params: Record<string, string>,
  prepare: Prepare,
): Promise<Answer> {
  const repo = await repoFor(world, call, param(params, 'owner'), param(params, 'repo'));
  await refuseClosedRepo(world, repo);
  const path = `/repos/${fullName(repo)}/issues/${param(params, 'number')}`;
  const before = await issueAt(world, path);
  if (!before) throw new Refusal(404, 'Not Found');
  let answer: Answer = { status: 204 };
  for (const step of await prepare({ world, repo, before }, call)) {
    answer = await passOn(world, step);
    if (answer.status >= 400) return answer;
  }
  const after = (await issueAt(world, path)) ?? before;
  await tell(world, repo, call.caller, eventsBetween(before, after));
  return answer;
}

async function preparePatch({ world, repo, before }: Change, call: Call): Promise<Call[]> {
  const { labels, ...body } = jsonOf(call);
  checkTexts('Issue', body);
  const author = textAt(before, 'user', 'login') === loginOf(call.caller);
  const triage = await may(world, call.caller, repo, 'triage');
  const rewords = body.title !== undefined || body.body !== undefined;
  if (rewords && !author && !(await may(world, call.caller, repo, 'push'))) throw mustHave('push');
  if (body.state !== undefined && !author && !triage) throw mustHave('triage');
  if (labels === undefined || !triage) return [withJson(call, body)];
  const names = await spelled(world, repo, labelNames(labels));
  names.forEach(checkLabelName);
  checkLabelCount(names);
  return [withJson(call, { ...body, labels: names })];
}

async function prepareLabels({ world, repo, before }: Change, call: Call): Promise<Call[]> {
  await demand(world, call.caller, repo, 'triage');
  const body = anyJsonOf(call);
  const names = await spelled(world, repo, labelNames(isObject(body) ? body.labels : body));
  names.forEach(checkLabelName);
  checkLabelCount(call.method === 'PUT' ? names : [...labelNames(before.labels), ...names]);
  return [withJson(call, { labels: names })];
}

async function prepareNoLabels({ world, repo, before }: Change, call: Call): Promise<Call[]> {
  await demand(world, call.caller, repo, 'triage');
  return labelNames(before.labels).map((name) => ({
    ...call,
    path: `${call.path}/${encodeURIComponent(name)}`,
  }));
}

async function needTriage({ world, repo }: Change, call: Call): Promise<Call[]> {
  await demand(world, call.caller, repo, 'triage');
  return [call];
}

async function needPush({ world, repo }: Change, call: Call): Promise<Call[]> {
  await demand(world, call.caller, repo, 'push');
  return [call];
}

async function demand(
  world: World,
  caller: Caller,
  repo: RepoEntry,
  right: 'triage' | 'push',
): Promise<void> {
  if (!(await may(world, caller, repo, right))) throw mustHave(right);
}

function mustHave(right: string): Refusal {
  return new Refusal(403, `Must have ${right} access to repository`);
}
