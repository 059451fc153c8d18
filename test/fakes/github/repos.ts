/**
 * The repositories of the stand-in: their ids, present and former names, bare git directories, and lost issues.
 */
import { Refusal } from './call.ts';

export interface RepoEntry {
  id: number;
  owner: string;
  name: string;
  gitDir: string;
}

/** What became of an issue that is no longer where it was. */
export type IssueFate = { kind: 'deleted' } | { kind: 'transferred'; repo: RepoEntry; number: number };

export class RepoBook {
  readonly #byId = new Map<number, RepoEntry>();
  readonly #formerNames = new Map<string, RepoEntry>();
  readonly #fates = new Map<string, IssueFate>();

  add(repo: RepoEntry): void {
    this.#byId.set(repo.id, repo);
    this.#formerNames.delete(fullName(repo).toLowerCase());
  }

  remove(repo: RepoEntry): void {
    this.#byId.delete(repo.id);
  }

  all(): RepoEntry[] {
    return [...this.#byId.values()];
  }

  byId(id: number): RepoEntry | undefined {
    return this.#byId.get(id);
  }

  /** The repository of that name, upper and lower case alike. */
  named(owner: string, name: string): RepoEntry | undefined {
    const wanted = `${owner}/${name}`.toLowerCase();
    return this.all().find((repo) => fullName(repo).toLowerCase() === wanted);
  }

  /** The repository that once had that name and was renamed or moved. */
  formerly(owner: string, name: string): RepoEntry | undefined {
    const repo = this.#formerNames.get(`${owner}/${name}`.toLowerCase());
    return repo && this.#byId.get(repo.id);
  }

  /** Gives a repository a new full name and keeps the old one for redirects. */
  move(repo: RepoEntry, owner: string, name: string): void {
    this.#formerNames.set(fullName(repo).toLowerCase(), repo);
    repo.owner = owner;
    repo.name = name;
    this.#formerNames.delete(fullName(repo).toLowerCase());
  }

  setFate(repo: RepoEntry, issue: number, fate: IssueFate): void {
    this.#fates.set(`${repo.id}#${issue}`, fate);
  }

  fate(repo: RepoEntry, issue: number): IssueFate | undefined {
    return this.#fates.get(`${repo.id}#${issue}`);
  }

  /** The repository that a path names. Throws 404. */
  demand(owner: string, name: string): RepoEntry {
    const repo = this.named(owner, name);
    if (!repo) throw new Refusal(404, 'Not Found');
    return repo;
  }
}

export function fullName(repo: RepoEntry): string {
  return `${repo.owner}/${repo.name}`;
}
