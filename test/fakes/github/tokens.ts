/**
 * Installation tokens: minted narrower than the App at most, listed by what they reach, revoked.
 */
import { passOn, repoFacts } from './access.ts';
import type { AppRecord, InstallationRecord, Permissions } from './apps.ts';
import { covers } from './apps.ts';
import type { Answer, Call, JsonObject, Route } from './call.ts';
import { isObject, jsonOf, Refusal, textAt, withJson } from './call.ts';
import { paged } from './paging.ts';
import type { RepoEntry } from './repos.ts';
import { innerPermissions } from './slots.ts';
import type { World } from './world.ts';

const tokenLifeMs = 60 * 60 * 1000;

/** What a token can ask of itself. */
export function tokenRoutes(world: World): Route[] {
  return [
    { method: 'GET', pattern: '/installation/repositories', handle: (call) => listRepositories(world, call) },
    { method: 'DELETE', pattern: '/installation/token', handle: (call) => revoke(world, call) },
  ];
}

/** True if the installation reaches the repository, suspended or not. */
export function reaches(installation: InstallationRecord, repo: RepoEntry): boolean {
  return covers({ ...installation, suspendedAt: null }, repo.owner, repo.id);
}

/** Mints a token for an installation of the calling App. */
export async function mint(world: World, call: Call, found: InstallationRecord | undefined): Promise<Answer> {
  if (!found) throw new Refusal(404, 'Not Found');
  if (found.suspendedAt !== null) throw new Refusal(403, 'This installation has been suspended');
  const body = jsonOf(call);
  const permissions = grantable(found.app, body.permissions);
  const repositoryIds = await narrowedIds(world, found, body);
  const narrowed = innerPermissions(permissions);
  const inner = {
    permissions: narrowed,
    ...(repositoryIds === null ? {} : { repository_ids: repositoryIds }),
  };
  const path = `/app/installations/${found.upstreamId}/access_tokens`;
  const answer = await passOn(world, { ...withJson(call, inner), path });
  if (answer.status !== 201 || !isObject(answer.body)) return answer;
  const expiresAtMs = world.now() + tokenLifeMs;
  world.apps.addToken({
    token: textAt(answer.body, 'token'),
    installation: found,
    permissions,
    repositoryIds,
    expiresAtMs,
  });
  return {
    ...answer,
    body: { ...answer.body, permissions, expires_at: new Date(expiresAtMs).toISOString() },
  };
}

const rank = (level: unknown) => (level === 'write' ? 2 : level === 'read' ? 1 : 0);

function grantable(app: AppRecord, asked: unknown): Permissions {
  if (!isObject(asked)) return app.permissions;
  const wanted: Permissions = { metadata: 'read' };
  for (const [name, level] of Object.entries(asked)) {
    if (rank(level) === 0 || rank(level) > rank(app.permissions[name])) {
      throw new Refusal(422, 'The permissions requested are not granted to this installation.');
    }
    wanted[name] = String(level);
  }
  return wanted;
}

async function narrowedIds(
  world: World,
  found: InstallationRecord,
  body: JsonObject,
): Promise<number[] | null> {
  const reachable = world.repos.all().filter((repo) => reaches(found, repo));
  const { repository_ids: ids, repositories: names } = body;
  const wanted = Array.isArray(ids)
    ? ids.map((id) => reachable.find((repo) => repo.id === id))
    : Array.isArray(names)
      ? names.map((name) => reachable.find((repo) => repo.name === name))
      : undefined;
  if (!wanted) return found.selection === 'all' ? null : reachable.map((repo) => repo.id);
  return wanted.map((repo) => {
    if (repo) return repo.id;
    throw new Refusal(422, 'There is at least one repository that does not exist or is not accessible.');
  });
}

async function listRepositories(world: World, call: Call): Promise<Answer> {
  if (call.caller.kind !== 'installation') throw new Refusal(403, 'Resource not accessible by integration');
  const { installation, repositoryIds } = call.caller.token;
  const reachable = world.repos.all().filter((repo) => reaches(installation, repo));
  const repos = reachable.filter((repo) => repositoryIds === null || repositoryIds.includes(repo.id));
  const facts = await Promise.all(repos.map((repo) => repoFacts(world, repo)));
  return paged(world, call, facts, (repositories) => ({
    total_count: repos.length,
    repository_selection: repositoryIds === null ? installation.selection : 'selected',
    repositories,
  }));
}

function revoke(world: World, call: Call): Answer {
  if (call.caller.kind !== 'installation') throw new Refusal(401, 'Bad credentials');
  world.apps.dropToken(call.caller.token.token);
  return { status: 204 };
}
