/**
 * Repositories themselves: created with a bare git directory, renamed with a redirect, archived, moved and deleted.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { branchOf, passOn, repoFacts, repoFor } from './access.ts';
import { covers } from './apps.ts';
import type { Answer, Call, Caller, JsonObject, Route } from './call.ts';
import { isObject, jsonOf, numberAt, param, textAt, withJson } from './call.ts';
import { senderOf, tell } from './events.ts';
import { commitFiles, initBare, setHead } from './git.ts';
import { collaboratorWord } from './people.ts';
import { fullName, type RepoEntry } from './repos.ts';
import { rightsOf } from './rights.ts';
import { asShown } from './shown.ts';
import type { World } from './world.ts';

export function repoRoutes(world: World, gitRoot: string): Route[] {
  const one = '/repos/:owner/:repo';
  return [
    { method: 'POST', pattern: '/user/repos', handle: (call) => create(world, gitRoot, call) },
    { method: 'POST', pattern: '/orgs/:org/repos', handle: (call) => create(world, gitRoot, call) },
    { method: 'GET', pattern: one, handle: (call, params) => read(world, call, params) },
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
    {
      method: 'POST',
      pattern: `${one}/transfer`,
      handle: (call, params) => world.inTurn(() => transfer(world, call, params)),
    },
  ];
}

/** emulate keeps a first commit of its own, without which it has no pull requests; files come from git alone. */
export const innerCommit = { auto_init: true };

async function create(world: World, gitRoot: string, call: Call): Promise<Answer> {
  const { auto_init: readme, ...body } = jsonOf(call);
  const answer = await passOn(world, withJson(call, { ...body, ...innerCommit }));
  if (answer.status !== 201 || !isObject(answer.body)) return answer;
  const repo = await adopt(world, gitRoot, answer.body);
  if (readme === true) {
    const files = { 'README.md': `# ${repo.name}\n` };
    const atS = Math.floor(world.now() / 1000);
    const branch = branchOf(answer.body);
    await commitFiles(repo.gitDir, { branch, files, message: 'Initial commit', author: repo.owner, atS });
  }
  await tell(world, repo, call.caller, [{ event: 'repository', action: 'created', parts: {} }]);
  return answer;
}

/** Gives a repository of emulate its git directory, and an organization's people their rights. */
export async function adopt(world: World, gitRoot: string, facts: JsonObject): Promise<RepoEntry> {
  const id = numberAt(facts, 'id');
  const owner = textAt(facts, 'owner', 'login');
  const repo = { id, owner, name: textAt(facts, 'name'), gitDir: join(gitRoot, `${id}.git`) };
  await initBare(repo.gitDir, branchOf(facts));
  world.repos.add(repo);
  if (textAt(facts, 'owner', 'type') !== 'Organization') return repo;
  for (const person of Object.values(world.people)) {
    const permission = collaboratorWord(person.role);
    if (!permission) continue;
    await world.upstream.own('PUT', `/repos/${fullName(repo)}/collaborators/${person.login}`, { permission });
  }
  return repo;
}

async function read(world: World, call: Call, params: Record<string, string>): Promise<Answer> {
  const repo = await repoFor(world, call, param(params, 'owner'), param(params, 'repo'));
  const answer = await passOn(world, call);
  if (!isObject(answer.body)) return answer;
  return { ...answer, body: { ...answer.body, permissions: await permissionsFor(world, call.caller, repo) } };
}

async function permissionsFor(world: World, caller: Caller, repo: RepoEntry): Promise<JsonObject> {
  if (caller.kind === 'person') return (await rightsOf(world, repo, caller.person.login)).permissions;
  const push = caller.kind === 'installation' && caller.token.permissions.contents === 'write';
  return { admin: false, maintain: false, push, triage: false, pull: true };
}

async function edit(world: World, call: Call, params: Record<string, string>): Promise<Answer> {
  const repo = await repoFor(world, call, param(params, 'owner'), param(params, 'repo'));
  const before = await repoFacts(world, repo);
  const answer = await passOn(world, call);
  const after = answer.body;
  if (answer.status !== 200 || !isObject(after)) return answer;
  if (textAt(after, 'name') !== repo.name) world.repos.move(repo, repo.owner, textAt(after, 'name'));
  if (branchOf(before) !== branchOf(after)) await setHead(repo.gitDir, branchOf(after));
  const events = repoChanges(before, after).map(({ action, parts }) => ({
    event: 'repository',
    action,
    parts,
  }));
  await tell(world, repo, call.caller, events);
  return answer;
}

function repoChanges(before: JsonObject, after: JsonObject): Array<{ action: string; parts: JsonObject }> {
  const found: Array<{ action: string; parts: JsonObject }> = [];
  if (before.name !== after.name) {
    found.push({ action: 'renamed', parts: { changes: { repository: { name: { from: before.name } } } } });
  }
  if (before.archived !== after.archived)
    found.push({ action: after.archived ? 'archived' : 'unarchived', parts: {} });
  if (before.private !== after.private)
    found.push({ action: after.private ? 'privatized' : 'publicized', parts: {} });
  if (before.default_branch !== after.default_branch) {
    found.push({ action: 'edited', parts: { changes: { default_branch: { from: before.default_branch } } } });
  }
  return found;
}

/** A deleted repository can no longer be read, so its event is composed before. */
async function remove(world: World, call: Call, params: Record<string, string>): Promise<Answer> {
  const repo = await repoFor(world, call, param(params, 'owner'), param(params, 'repo'));
  const repository = await repoFacts(world, repo);
  const sender = await senderOf(world, call.caller);
  const hearers = world.apps.installations.filter((one) => covers(one, repo.owner, repo.id));
  const answer = await passOn(world, call);
  if (answer.status !== 204) return answer;
  world.repos.remove(repo);
  await rm(repo.gitDir, { recursive: true, force: true });
  for (const { app, id } of hearers.filter((one) => one.app.events.includes('repository'))) {
    const payload = { action: 'deleted', repository, sender, installation: { id } };
    world.hooks.emit(app, 'repository', asShown(world, payload));
  }
  return answer;
}

async function transfer(world: World, call: Call, params: Record<string, string>): Promise<Answer> {
  const repo = await repoFor(world, call, param(params, 'owner'), param(params, 'repo'));
  const from = repo.owner;
  const answer = await passOn(world, call);
  if (answer.status !== 200) return answer;
  world.repos.move(repo, textAt(answer.body, 'owner', 'login'), repo.name);
  const changes = { owner: { from: { organization: { login: from } } } };
  await tell(world, repo, call.caller, [{ event: 'repository', action: 'transferred', parts: { changes } }]);
  return { ...answer, status: 202 };
}
