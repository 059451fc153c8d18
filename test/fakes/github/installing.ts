/**
 * Installing the App on owners and taking it off again, as people do on GitHub's web pages; the App is told.
 */
import type { AppRecord, InstallationRecord } from './apps.ts';
import { covers } from './apps.ts';
import type { JsonObject } from './call.ts';
import { Refusal } from './call.ts';
import { briefRepo, tellInstallation } from './events.ts';
import type { World } from './world.ts';

/** All act on the first App unless another one is given. */
export class Installing {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** Installs the App on an owner, for all repositories or the named ones, and tells it. */
  async installOn(owner: string, repos?: Array<{ id: number }>, app = this.#firstApp()): Promise<number> {
    const ids = repos?.map((repo) => repo.id);
    const installation = this.#world.apps.install(app, owner, ids);
    await this.#tell(installation, 'installation', 'created', {
      repositories: await this.#reach(installation),
    });
    return installation.id;
  }

  /** Takes the App off an owner: its tokens die, and it is told. */
  async uninstall(owner: string, app = this.#firstApp()): Promise<void> {
    const installation = this.#installation(owner, app);
    const repositories = await this.#reach(installation);
    await this.#tell(installation, 'installation', 'deleted', { repositories });
    this.#world.apps.uninstall(installation);
  }

  /** Suspends the installation on an owner, or ends that. */
  async suspend(owner: string, suspended: boolean, app = this.#firstApp()): Promise<void> {
    const installation = this.#installation(owner, app);
    installation.suspendedAt = suspended ? new Date(this.#world.now()).toISOString() : null;
    await this.#tell(installation, 'installation', suspended ? 'suspend' : 'unsuspend', {});
  }

  /** Sets which repositories an installation reaches, and tells the App what came and what went. */
  async selectRepos(owner: string, repos: Array<{ id: number }>, app = this.#firstApp()): Promise<void> {
    const installation = this.#installation(owner, app);
    const before = await this.#reach(installation);
    installation.selection = 'selected';
    installation.repositoryIds = new Set(repos.map((repo) => repo.id));
    const after = await this.#reach(installation);
    const without = (list: JsonObject[], other: JsonObject[]) =>
      list.filter((one) => !other.some((two) => two.id === one.id));
    const added = without(after, before);
    const removed = without(before, after);
    const event = 'installation_repositories';
    const parts = { repository_selection: 'selected', requester: null };
    const addedParts = { ...parts, repositories_added: added, repositories_removed: [] };
    const removedParts = { ...parts, repositories_added: [], repositories_removed: removed };
    if (added.length > 0) await this.#tell(installation, event, 'added', addedParts);
    if (removed.length > 0) await this.#tell(installation, event, 'removed', removedParts);
  }

  #firstApp(): AppRecord {
    const app = this.#world.apps.apps[0];
    if (!app) throw new Refusal(404, 'No App is registered');
    return app;
  }

  #installation(owner: string, app: AppRecord): InstallationRecord {
    const found = this.#world.apps.installations.find((one) => one.app === app && one.account === owner);
    if (!found) throw new Refusal(404, `${app.slug} is not installed on ${owner}`);
    return found;
  }

  #tell(installation: InstallationRecord, name: string, action: string, parts: JsonObject): Promise<void> {
    return tellInstallation(
      this.#world,
      installation,
      { kind: 'person', person: this.#world.people.admin },
      { name, action, parts },
    );
  }

  #reach(installation: InstallationRecord): Promise<JsonObject[]> {
    const repos = this.#world.repos.all().filter((repo) => covers(installation, repo.owner, repo.id));
    return Promise.all(repos.map((repo) => briefRepo(this.#world, repo)));
  }
}
