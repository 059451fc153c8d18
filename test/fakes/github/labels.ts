/**
 * The labels of a repository: strict names, GitHub's `already_exists`, and one spelling for upper and lower case.
 */
import { passOn, repoFor } from './access.ts';
import type { Answer, Call, Route } from './call.ts';
import { invalid, isObject, jsonOf, objectsIn, param, Refusal, textAt } from './call.ts';
import { tell } from './events.ts';
import { checkLabelName, may, refuseClosedRepo } from './limits.ts';
import { fullName, type RepoEntry } from './repos.ts';
import type { World } from './world.ts';

/** Creating, changing and deleting labels of a repository; reading them is emulate's. */
export function labelRoutes(world: World): Route[] {
  const path = '/repos/:owner/:repo/labels';
  return [
    { method: 'POST', pattern: path, handle: (call, params) => change(world, call, params, 'created') },
    {
      method: 'PATCH',
      pattern: `${path}/:name`,
      handle: (call, params) => change(world, call, params, 'edited'),
    },
    {
      method: 'DELETE',
      pattern: `${path}/:name`,
      handle: (call, params) => change(world, call, params, 'deleted'),
    },
  ];
}

function change(world: World, call: Call, params: Record<string, string>, action: string): Promise<Answer> {
  return world.inTurn(async () => {
    const repo = await repoFor(world, call, param(params, 'owner'), param(params, 'repo'));
    await refuseClosedRepo(world, repo);
    if (!(await may(world, call.caller, repo, 'push')))
      throw new Refusal(403, 'Must have push access to repository');
    const body = jsonOf(call);
    const name = body.new_name ?? body.name;
    checkLabelName(name);
    if (action === 'created') await refuseTwin(world, repo, textAt(body, 'name'));
    const before = params.name ? await world.upstream.find(call.path) : undefined;
    const answer = await passOn(world, call);
    if (answer.status >= 400) return answer;
    const label = action === 'deleted' ? before : answer.body;
    await tell(world, repo, call.caller, [{ event: 'label', action, parts: { label } }]);
    return answer;
  });
}

async function refuseTwin(world: World, repo: RepoEntry, name: string): Promise<void> {
  const [spelling] = await spelled(world, repo, [name]);
  if (!(await allLabels(world, repo)).some((label) => label === spelling)) return;
  const refusal = invalid('Label', 'name', 'already exists');
  const errors = [{ resource: 'Label', code: 'already_exists', field: 'name' }];
  if (isObject(refusal.answer.body)) refusal.answer.body.errors = errors;
  throw refusal;
}

/** Every label name of the repository. */
async function allLabels(world: World, repo: RepoEntry): Promise<string[]> {
  const names: string[] = [];
  for (let page = 1; ; page++) {
    const labels = objectsIn(
      await world.upstream.find(`/repos/${fullName(repo)}/labels?per_page=100&page=${page}`),
    );
    names.push(...labels.map((label) => textAt(label, 'name')));
    if (labels.length < 100) return names;
  }
}

/** The names as the repository spells them already; new ones stay as they are. */
export async function spelled(world: World, repo: RepoEntry, names: string[]): Promise<string[]> {
  const known = new Map((await allLabels(world, repo)).map((name) => [name.toLowerCase(), name]));
  return names.map((name) => known.get(name.toLowerCase()) ?? name);
}

/** Label names in a request: texts, or objects with a name. */
export function labelNames(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.map((one) => (typeof one === 'string' ? one : textAt(one, 'name'))).filter(Boolean);
}
