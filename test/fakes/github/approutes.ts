/**
 * What an App asks of itself: its own record, its installations, tokens, hook settings and deliveries.
 */
import { passOn, repoFacts } from './access.ts';
import type { AppRecord, InstallationRecord, Permissions } from './apps.ts';
import { covers, innerPermissions } from './apps.ts';
import type { Answer, Call, JsonObject, Route } from './call.ts';
import { at, isObject, jsonOf, param, Refusal, textAt, withJson } from './call.ts';
import { describeInstallation } from './events.ts';
import { paged } from './paging.ts';
import type { RepoEntry } from './repos.ts';
import type { World } from './world.ts';

const tokenLifeMs = 60 * 60 * 1000;

/** The App that calls with its JWT; throws 401 for anybody else. */
export function appOf(call: Call): AppRecord {
  if (call.caller.kind === 'app') return call.caller.app;
  throw new Refusal(401, 'A JSON web token could not be decoded');
}

export function appRoutes(world: World): Route[] {
  const mine = (call: Call) => world.apps.installations.filter((one) => one.app === appOf(call));
  const describe = async (found: InstallationRecord | undefined): Promise<Answer> => {
    if (!found) throw new Refusal(404, 'Not Found');
    return { status: 200, body: await describeInstallation(world, found) };
  };
  const byId = (call: Call, params: Record<string, string>) =>
    mine(call).find((one) => one.id === Number(param(params, 'id')));
  const onOwner = (call: Call, params: Record<string, string>) =>
    mine(call).find((one) => one.account === param(params, 'owner'));
  return [
    {
      method: 'GET',
      pattern: '/app',
      handle: (call) => ({ status: 200, body: describeApp(world, appOf(call)) }),
    },
    {
      method: 'GET',
      pattern: '/app/installations',
      handle: async (call) =>
        paged(world, call, await Promise.all(mine(call).map((one) => describeInstallation(world, one)))),
    },
    {
      method: 'GET',
      pattern: '/app/installations/:id',
      handle: (call, params) => describe(byId(call, params)),
    },
    {
      method: 'POST',
      pattern: '/app/installations/:id/access_tokens',
      handle: (call, params) => mint(world, call, byId(call, params)),
    },
    {
      method: 'GET',
      pattern: '/orgs/:owner/installation',
      handle: (call, params) => describe(onOwner(call, params)),
    },
    {
      method: 'GET',
      pattern: '/users/:owner/installation',
      handle: (call, params) => describe(onOwner(call, params)),
    },
    {
      method: 'GET',
      pattern: '/repos/:owner/:repo/installation',
      handle: (call, params) => {
        const repo = world.repos.demand(param(params, 'owner'), param(params, 'repo'));
        return describe(mine(call).find((one) => reaches(one, repo)));
      },
    },
    { method: 'GET', pattern: '/installation/repositories', handle: (call) => listRepositories(world, call) },
    { method: 'DELETE', pattern: '/installation/token', handle: (call) => revoke(world, call) },
  ];
}

function reaches(installation: InstallationRecord, repo: RepoEntry): boolean {
  return covers({ ...installation, suspendedAt: null }, repo.owner, repo.id);
}

/** The App as `GET /app` shows it. */
export function describeApp(world: World, app: AppRecord): JsonObject {
  return {
    id: app.id,
    slug: app.slug,
    node_id: Buffer.from(`App${app.id}`).toString('base64'),
    client_id: app.clientId,
    owner: { login: 'acme', type: 'Organization' },
    name: app.name,
    description: app.description,
    external_url: app.externalUrl,
    html_url: `${world.url}/apps/${app.slug}`,
    created_at: app.createdAt,
    updated_at: app.createdAt,
    permissions: app.permissions,
    events: app.events,
    installations_count: world.apps.installations.filter((one) => one.app === app).length,
  };
}

async function mint(world: World, call: Call, found: InstallationRecord | undefined): Promise<Answer> {
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

/** `GET` and `PATCH /app/hook/config`. */
export function hookConfigRoutes(): Route[] {
  const shown = (app: AppRecord): Answer => ({
    status: 200,
    body: { content_type: 'json', insecure_ssl: '0', secret: '********', url: app.hookUrl ?? '' },
  });
  return [
    { method: 'GET', pattern: '/app/hook/config', handle: (call) => shown(appOf(call)) },
    {
      method: 'PATCH',
      pattern: '/app/hook/config',
      handle: (call) => {
        const app = appOf(call);
        const wish = jsonOf(call);
        if (typeof at(wish, 'url') === 'string') app.hookUrl = textAt(wish, 'url');
        if (typeof at(wish, 'secret') === 'string') app.webhookSecret = textAt(wish, 'secret');
        return shown(app);
      },
    },
  ];
}
