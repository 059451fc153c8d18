import type { AppRecord, InstallationRecord } from './apps.ts';
import type { Answer, Call, JsonObject, Route } from './call.ts';
import { param, Refusal } from './call.ts';
import { describeInstallation } from './events.ts';
import { paged } from './paging.ts';
import { mint, reaches } from './tokens.ts';
import type { World } from './world.ts';

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
  ];
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
