/**
 * Requests by repository id. The routes need a name, and names change: the newest one that a delivery or a listing
 * told is kept by id, and a 404 is answered by looking the name up again.
 */
import { z } from 'zod';
import type { Client, Clients, Parameters, Reply } from './client.ts';
import { statusOf, unusable } from './failure.ts';

/** A repository as we address it: the id is the key, the name only a way there. */
export interface RepositoryRef {
  readonly installation: number;
  readonly repositoryId: number;
  /** `owner/name` as last seen. */
  readonly repository: string;
}

/** A repository of an installation. */
export interface InstalledRepository extends RepositoryRef {
  readonly archived: boolean;
}

export interface Api {
  asApp(route: string, parameters?: Parameters): Promise<Reply>;
  asInstallation(installation: number, route: string, parameters?: Parameters): Promise<Reply>;
  /** Asks with `owner` and `repo` filled in. On a 404 of a renamed repository it asks once more. */
  inRepository(ref: RepositoryRef, route: string, parameters?: Parameters): Promise<Reply>;
  /** Remembers the newest name of a repository. */
  learn(repositoryId: number, repository: string): void;
  nameOf(ref: RepositoryRef): string;
  /** Every repository of an installation, page by page. */
  repositories(installation: number): AsyncGenerator<InstalledRepository[]>;
}

const maxNames = 20_000;
const maxPages = 100;

const repositoriesSchema = z.object({
  repositories: z.array(
    z.object({ id: z.number(), full_name: z.string(), archived: z.boolean().catch(false) }),
  ),
});

/** Whether a `Link` header names a next page. */
export function hasNext(reply: Reply): boolean {
  return /rel="next"/.test(String(reply.headers.link ?? ''));
}

function splitName(fullName: string): { owner: string; repo: string } {
  const slash = fullName.indexOf('/');
  return { owner: fullName.slice(0, slash), repo: fullName.slice(slash + 1) };
}

export function makeApi(clients: Clients): Api {
  const names = new Map<number, string>();

  const asInstallation = async (installation: number, route: string, parameters?: Parameters) =>
    (await clients.installation(installation)).request(route, parameters);

  const learn = (repositoryId: number, repository: string): void => {
    if (!names.has(repositoryId) && names.size >= maxNames) names.clear();
    names.set(repositoryId, repository);
  };

  async function* repositories(installation: number): AsyncGenerator<InstalledRepository[]> {
    for (let page = 1; page <= maxPages; page += 1) {
      const route = 'GET /installation/repositories';
      const reply = await asInstallation(installation, route, { per_page: 100, page });
      const parsed = repositoriesSchema.safeParse(reply.data);
      if (!parsed.success) throw unusable(route, parsed.error);
      for (const item of parsed.data.repositories) learn(item.id, item.full_name);
      yield parsed.data.repositories.map((item) => ({
        installation,
        repositoryId: item.id,
        repository: item.full_name,
        archived: item.archived,
      }));
      if (!hasNext(reply)) return;
    }
  }

  const lookUpName = async (ref: RepositoryRef): Promise<string | undefined> => {
    for await (const page of repositories(ref.installation)) {
      const found = page.find((item) => item.repositoryId === ref.repositoryId);
      if (found) return found.repository;
    }
    return undefined;
  };

  const nameOf = (ref: RepositoryRef): string => names.get(ref.repositoryId) ?? ref.repository;

  const inRepository = async (ref: RepositoryRef, route: string, parameters: Parameters = {}) => {
    const client: Client = await clients.installation(ref.installation);
    const name = nameOf(ref);
    try {
      return await client.request(route, { ...splitName(name), ...parameters });
    } catch (error) {
      if (statusOf(error) !== 404) throw error;
      const newer = await lookUpName(ref).catch(() => undefined);
      if (newer === undefined || newer === name) throw error;
      return client.request(route, { ...splitName(newer), ...parameters });
    }
  };

  return {
    asApp: async (route, parameters) => (await clients.app()).request(route, parameters),
    asInstallation,
    inRepository,
    learn,
    nameOf,
    repositories,
  };
}
