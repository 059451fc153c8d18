/**
 * A person's rights on a repository, answered as GitHub answers the collaborator-permission route.
 *
 * Rule (docs.github.com, "Get repository permissions for a user"): `permission` knows only admin, write, read and none;
 * it maps triage to read and maintain to write. `role_name` and `user.permissions` say it exactly.
 */
import { repoFor } from './access.ts';
import type { JsonObject, Route } from './call.ts';
import { isObject, param, Refusal, textAt } from './call.ts';
import { fullName, type RepoEntry } from './repos.ts';
import type { World } from './world.ts';

export interface Rights {
  permission: 'admin' | 'write' | 'read' | 'none';
  role_name: string;
  permissions: { admin: boolean; maintain: boolean; push: boolean; triage: boolean; pull: boolean };
}

const roles = ['none', 'read', 'triage', 'write', 'maintain', 'admin'];
const words = ['none', 'read', 'read', 'write', 'write', 'admin'] as const;

/** The rights of a login on a repository, whoever asks. */
export async function rightsOf(world: World, repo: RepoEntry, login: string): Promise<Rights> {
  const path = `/repos/${fullName(repo)}/collaborators/${encodeURIComponent(login)}/permission`;
  const known = textAt(await world.upstream.find(path), 'role_name');
  const facts = await world.upstream.find(`/repos/${fullName(repo)}`);
  const open = isObject(facts) && facts.private !== true;
  const rank = Math.max(roles.indexOf(known), open ? 1 : 0);
  return {
    permission: words[rank] ?? 'none',
    role_name: roles[rank] ?? 'none',
    permissions: {
      admin: rank >= 5,
      maintain: rank >= 4,
      push: rank >= 3,
      triage: rank >= 2,
      pull: rank >= 1,
    },
  };
}

/** The permission route. Users that do not exist, and bots, are 404. */
export function rightsRoutes(world: World): Route[] {
  return [
    {
      method: 'GET',
      pattern: '/repos/:owner/:repo/collaborators/:username/permission',
      handle: async (call, params) => {
        const repo = await repoFor(world, call, param(params, 'owner'), param(params, 'repo'));
        const username = param(params, 'username');
        const user = await world.upstream.find(`/users/${encodeURIComponent(username)}`);
        if (!isObject(user) || username.endsWith('[bot]')) throw new Refusal(404, 'Not Found');
        const rights = await rightsOf(world, repo, textAt(user, 'login'));
        const { permission, role_name, permissions } = rights;
        return {
          status: 200,
          body: { permission, role_name, user: { ...simpleUser(user), permissions, role_name } },
        };
      },
    },
  ];
}

const privateFields = ['name', 'company', 'blog', 'location', 'email', 'hireable', 'bio', 'twitter_username'];
const counters = ['public_repos', 'public_gists', 'followers', 'following', 'created_at', 'updated_at'];

/** A user as it appears inside other objects: without the fields of the profile. */
export function simpleUser(user: JsonObject): JsonObject {
  const hidden = new Set([...privateFields, ...counters]);
  return Object.fromEntries(Object.entries(user).filter(([key]) => !hidden.has(key)));
}
