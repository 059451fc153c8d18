/**
 * Branches, refs and commits over REST, from the bare repository.
 */
import type { Answer, Call, JsonObject, Route } from './call.ts';
import { Refusal } from './call.ts';
import { readableRepo } from './contents.ts';
import { type CommitFacts, listBranches, listCommits, readCommit, resolveCommit } from './git.ts';
import { paged } from './paging.ts';
import { fullName, type RepoEntry } from './repos.ts';
import type { World } from './world.ts';

/** A list of commits reaches back this far. */
const maxListed = 300;

export function refRoutes(world: World): Route[] {
  const read = (
    pattern: string,
    handle: (call: Call, repo: RepoEntry, rest: string) => Promise<Answer>,
  ): Route => ({
    method: 'GET',
    pattern: `/repos/:owner/:repo/${pattern}`,
    handle: async (call, params) => handle(call, await readableRepo(world, call, params), params.rest ?? ''),
  });
  return [
    read('branches', async (call, repo) => {
      const branches = await listBranches(repo.gitDir);
      return paged(world, call, branches, (page) => page.map((one) => describeBranch(world, repo, one)));
    }),
    read('branches/:rest*', async (_call, repo, name) => {
      const sha = await resolveCommit(repo.gitDir, `refs/heads/${name}`);
      if (!sha) throw new Refusal(404, 'Branch not found');
      return { status: 200, body: describeBranch(world, repo, { name, sha }) };
    }),
    read('git/ref/:rest*', (_call, repo, name) => ref(world, repo, name)),
    read('git/refs/:rest*', (_call, repo, name) => ref(world, repo, name)),
    read('git/commits/:rest', (_call, repo, sha) => commit(world, repo, sha, gitCommit)),
    read('commits', async (call, repo) => {
      await refuseEmpty(repo);
      const ids = await listCommits(repo.gitDir, call.query.get('sha') ?? 'HEAD', maxListed);
      const facts = await Promise.all(ids.map((id) => readCommit(repo.gitDir, id)));
      const found = facts.filter((one) => one !== undefined);
      return paged(world, call, found, (page) => page.map((one) => restCommit(world, repo, one)));
    }),
    read('commits/:rest', (_call, repo, name) => commit(world, repo, name, restCommit)),
  ];
}

function describeBranch(world: World, repo: RepoEntry, branch: { name: string; sha: string }): JsonObject {
  const url = `${world.url}/repos/${fullName(repo)}/commits/${branch.sha}`;
  return { name: branch.name, commit: { sha: branch.sha, url }, protected: false };
}

async function ref(world: World, repo: RepoEntry, name: string): Promise<Answer> {
  await refuseEmpty(repo);
  const sha = await resolveCommit(repo.gitDir, `refs/${name}`);
  if (!sha) throw new Refusal(404, 'Not Found');
  const api = `${world.url}/repos/${fullName(repo)}/git`;
  const object = { sha, type: 'commit', url: `${api}/commits/${sha}` };
  return { status: 200, body: { ref: `refs/${name}`, node_id: sha, url: `${api}/refs/${name}`, object } };
}

async function refuseEmpty(repo: RepoEntry): Promise<void> {
  if ((await listBranches(repo.gitDir)).length === 0) throw new Refusal(409, 'Git Repository is empty.');
}

async function commit(
  world: World,
  repo: RepoEntry,
  name: string,
  describe: (world: World, repo: RepoEntry, facts: CommitFacts) => JsonObject,
): Promise<Answer> {
  await refuseEmpty(repo);
  const sha = await resolveCommit(repo.gitDir, name);
  const facts = sha ? await readCommit(repo.gitDir, sha) : undefined;
  if (!facts) throw new Refusal(422, `No commit found for SHA: ${name}`);
  return { status: 200, body: describe(world, repo, facts) };
}

function gitCommit(world: World, repo: RepoEntry, facts: CommitFacts): JsonObject {
  const api = `${world.url}/repos/${fullName(repo)}/git`;
  const { sha, author, committer, message } = facts;
  return {
    sha,
    url: `${api}/commits/${sha}`,
    html_url: `${world.url}/${fullName(repo)}/commit/${sha}`,
    author,
    committer,
    message,
    tree: { sha: facts.tree, url: `${api}/trees/${facts.tree}` },
    parents: facts.parents.map((parent) => ({ sha: parent, url: `${api}/commits/${parent}` })),
  };
}

function restCommit(world: World, repo: RepoEntry, facts: CommitFacts): JsonObject {
  const { sha, url: _inner, html_url, parents, ...inner } = gitCommit(world, repo, facts);
  const url = `${world.url}/repos/${fullName(repo)}/commits/${facts.sha}`;
  return { sha, url, html_url, commit: inner, author: null, committer: null, parents };
}
