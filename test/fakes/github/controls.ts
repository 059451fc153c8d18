/**
 * Repositories and issues from outside the API: what GitHub has only web pages for, made to happen by a test.
 */
import { branchOf, repoFacts } from './access.ts';
import type { Call, Caller, JsonObject } from './call.ts';
import { isObject, numberAt, Refusal, textAt } from './call.ts';
import { tell } from './events.ts';
import { commitFiles, type Files } from './git.ts';
import { openIssue } from './issues.ts';
import type { Person } from './people.ts';
import { adopt, innerCommit } from './reporoutes.ts';
import { fullName, type RepoEntry } from './repos.ts';
import type { World } from './world.ts';

export interface RepoWish {
  owner: string;
  name: string;
  private?: boolean;
  /** First commit; default one README.md. */
  files?: Files;
  /** No commit at all. */
  empty?: boolean;
}

export interface MadeRepo {
  id: number;
  owner: string;
  name: string;
  fullName: string;
  /** For git, with `.git`. */
  cloneUrl: string;
  defaultBranch: string;
  /** First commit; empty for an empty repository. */
  sha: string;
}

export class Controls {
  readonly #world: World;
  readonly #gitRoot: string;

  constructor(world: World, gitRoot: string) {
    this.#world = world;
    this.#gitRoot = gitRoot;
  }

  /** Makes a repository of an organization or a person. */
  async createRepo(wish: RepoWish): Promise<MadeRepo> {
    const world = this.#world;
    const person = Object.values(world.people).find((one) => one.login === wish.owner);
    const facts = { name: wish.name, private: wish.private ?? false, ...innerCommit };
    const body = Buffer.from(JSON.stringify(facts));
    const path = person ? '/user/repos' : `/orgs/${wish.owner}/repos`;
    const authorization = `token ${(person ?? world.people.admin).token}`;
    const answer = await world.upstream.send({ method: 'POST', path, authorization, body });
    if (answer.status !== 201 || !isObject(answer.body)) {
      throw new Refusal(
        answer.status,
        `Cannot create ${wish.owner}/${wish.name}: ${textAt(answer.body, 'message')}`,
      );
    }
    const repo = await adopt(world, this.#gitRoot, answer.body);
    const files = wish.files ?? { 'README.md': `# ${wish.name}\n` };
    const sha = wish.empty ? '' : await this.commit(repo, files, 'Initial commit');
    return {
      id: repo.id,
      owner: repo.owner,
      name: repo.name,
      fullName: fullName(repo),
      cloneUrl: `${world.url}/${fullName(repo)}.git`,
      defaultBranch: branchOf(answer.body),
      sha,
    };
  }

  /** Commits files (null removes one) to a branch, by default the default branch; gives back the commit's id. */
  async commit(repo: { id: number }, files: Files, message: string, branch?: string): Promise<string> {
    const entry = this.#entry(repo);
    const target = branch ?? branchOf(await repoFacts(this.#world, entry));
    const atS = Math.floor(this.#world.now() / 1000);
    return commitFiles(entry.gitDir, { branch: target, files, message, author: 'maria', atS });
  }

  /** Deletes an issue as the admin: afterwards 410. */
  async deleteIssue(repo: { id: number }, number: number): Promise<void> {
    const entry = this.#entry(repo);
    const issue = await this.#issue(entry, number);
    this.#world.repos.setFate(entry, number, { kind: 'deleted' });
    await tell(this.#world, entry, this.#admin(), [{ event: 'issues', action: 'deleted', parts: { issue } }]);
  }

  /** Moves an issue to another repository as the admin: afterwards a redirect; labels are lost. */
  async transferIssue(repo: { id: number }, number: number, to: { id: number }): Promise<number> {
    const world = this.#world;
    const from = this.#entry(repo);
    const target = this.#entry(to);
    const issue = await this.#issue(from, number);
    const path = `/repos/${fullName(target)}/issues`;
    const moved = await world.upstream.own('POST', path, { title: issue.title, body: issue.body });
    const newNumber = numberAt(moved, 'number');
    world.repos.setFate(from, number, { kind: 'transferred', repo: target, number: newNumber });
    const changes = { new_issue: moved, new_repository: await repoFacts(world, target) };
    await tell(world, from, this.#admin(), [
      { event: 'issues', action: 'transferred', parts: { issue, changes } },
    ]);
    const old = { old_issue: issue, old_repository: await repoFacts(world, from) };
    const parts = { issue: moved, changes: old };
    await tell(world, target, this.#admin(), [{ event: 'issues', action: 'opened', parts }]);
    return newNumber;
  }

  /** Opens an issue from an issue template, whose labels stick even for a stranger. */
  async openFromTemplate(
    repo: { id: number },
    person: Person,
    issue: { title: string; body?: string; labels: string[] },
  ): Promise<number> {
    const { owner, name } = this.#entry(repo);
    const call: Call = {
      method: 'POST',
      path: `/repos/${owner}/${name}/issues`,
      query: new URLSearchParams(),
      headers: {},
      body: Buffer.from(JSON.stringify(issue)),
      caller: { kind: 'person', person },
    };
    const answer = await this.#world.inTurn(() => openIssue(this.#world, call, { owner, repo: name }, true));
    return numberAt(answer.body, 'number');
  }

  #admin(): Caller {
    return { kind: 'person', person: this.#world.people.admin };
  }

  #entry(repo: { id: number }): RepoEntry {
    const entry = this.#world.repos.byId(repo.id);
    if (!entry) throw new Refusal(404, `No repository has the id ${repo.id}`);
    return entry;
  }

  async #issue(repo: RepoEntry, number: number): Promise<JsonObject> {
    const issue = await this.#world.upstream.find(`/repos/${fullName(repo)}/issues/${number}`);
    if (!isObject(issue)) throw new Refusal(404, `No issue ${number} in ${fullName(repo)}`);
    return issue;
  }
}
