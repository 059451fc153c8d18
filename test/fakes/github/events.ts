/**
 * From something that happened to the deliveries that tell of it: which Apps hear it, and the full payload.
 */
import { repoFacts } from './access.ts';
import type { AppRecord, InstallationRecord } from './apps.ts';
import { covers } from './apps.ts';
import type { Caller, JsonObject } from './call.ts';
import { isObject, Refusal, textAt } from './call.ts';
import { fullName, type RepoEntry } from './repos.ts';
import { simpleUser } from './rights.ts';
import { asShown } from './shown.ts';
import type { World } from './world.ts';

/** One event of a repository, before it is known who hears it. */
export interface RepoEvent {
  event: string;
  action: string;
  /** `issue`, `comment`, `label`, `changes`, … */
  parts: JsonObject;
}

/** Tells every App that is subscribed and installed on the repository, in the given order. */
export async function tell(
  world: World,
  repo: RepoEntry,
  caller: Caller,
  events: RepoEvent[],
): Promise<void> {
  const hearers = world.apps.installations.filter((one) => covers(one, repo.owner, repo.id));
  if (events.length === 0 || hearers.length === 0) return;
  const { permissions: _callerOnly, ...repository } = await repoFacts(world, repo);
  const sender = await senderOf(world, caller);
  const owner = repository.owner;
  const organization = textAt(owner, 'type') === 'Organization' ? { organization: owner } : {};
  for (const { event, action, parts } of events) {
    for (const hearer of hearers) {
      if (!hearer.app.events.includes(event)) continue;
      const installation = installationStub(hearer);
      const payload = { action, ...parts, repository, ...organization, sender, installation };
      world.hooks.emit(hearer.app, event, asShown(world, payload));
    }
  }
}

/** Tells an App of its own installation: `installation` and `installation_repositories` need no subscription. */
export async function tellInstallation(
  world: World,
  installation: InstallationRecord,
  caller: Caller,
  event: { name: string; action: string; parts: JsonObject },
): Promise<void> {
  const described = await describeInstallation(world, installation);
  const payload = { action: event.action, installation: described, ...event.parts };
  const sender = await senderOf(world, caller);
  world.hooks.emit(installation.app, event.name, asShown(world, { ...payload, sender }));
}

/** The user object of whoever calls; Apps act as their bot. */
export async function senderOf(world: World, caller: Caller): Promise<JsonObject> {
  const user = await world.upstream.find(`/users/${encodeURIComponent(loginOf(caller))}`);
  if (!isObject(user)) throw new Refusal(401, 'Requires authentication');
  return simpleUser(user);
}

/** The login a caller acts under. */
export function loginOf(caller: Caller): string {
  if (caller.kind === 'person') return caller.person.login;
  if (caller.kind === 'installation') return botLogin(caller.token.installation.app);
  return caller.kind === 'app' ? botLogin(caller.app) : 'ghost';
}

function botLogin(app: AppRecord): string {
  return `${app.slug}[bot]`;
}

function installationStub(installation: InstallationRecord): JsonObject {
  return { id: installation.id, node_id: Buffer.from(`Installation${installation.id}`).toString('base64') };
}

/** An installation as GitHub's API shows it. */
export async function describeInstallation(
  world: World,
  installation: InstallationRecord,
): Promise<JsonObject> {
  const { app, account, id } = installation;
  const org = await world.upstream.find(`/orgs/${account}`);
  const owner = isObject(org) ? org : await world.upstream.find(`/users/${account}`);
  const type = isObject(org) ? 'Organization' : 'User';
  return {
    ...installationStub(installation),
    account: isObject(owner) ? { ...simpleUser(owner), type } : null,
    repository_selection: installation.selection,
    access_tokens_url: `${world.url}/app/installations/${id}/access_tokens`,
    repositories_url: `${world.url}/installation/repositories`,
    html_url: `${world.url}/settings/installations/${id}`,
    app_id: app.id,
    app_slug: app.slug,
    client_id: app.clientId,
    target_id: isObject(owner) ? owner.id : null,
    target_type: type,
    permissions: app.permissions,
    events: app.events,
    created_at: installation.createdAt,
    updated_at: installation.createdAt,
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: null,
    suspended_at: installation.suspendedAt,
  };
}

/** A repository as installation events list it. */
export async function briefRepo(world: World, repo: RepoEntry): Promise<JsonObject> {
  const facts = await repoFacts(world, repo);
  const { id, node_id, name } = facts;
  return { id, node_id, name, full_name: fullName(repo), private: facts.private };
}
