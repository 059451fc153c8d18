/**
 * Files, branches, refs and commits over REST, read from and written to the bare repository.
 */
import { branchOf, needPermission, repoFacts, repoFor } from './access.ts';
import type { Answer, Call, JsonObject, Route } from './call.ts';
import { invalid, jsonOf, param, Refusal, textAt } from './call.ts';
import { loginOf } from './events.ts';
import { commitFiles, entryAt, listFolder, readBlob, resolveCommit, type TreeEntry } from './git.ts';
import { may } from './limits.ts';
import { fullName, type RepoEntry } from './repos.ts';
import type { World } from './world.ts';

/** GitHub leaves `content` out of JSON answers above this size. */
const maxInlineBytes = 1_000_000;

export function contentsRoutes(world: World): Route[] {
  return [
    {
      method: 'GET',
      pattern: '/repos/:owner/:repo/contents',
      handle: (call, params) => read(world, call, params),
    },
    {
      method: 'GET',
      pattern: '/repos/:owner/:repo/contents/:path*',
      handle: (call, params) => read(world, call, params),
    },
    {
      method: 'PUT',
      pattern: '/repos/:owner/:repo/contents/:path*',
      handle: (call, params) => world.inTurn(() => write(world, call, params)),
    },
    {
      method: 'DELETE',
      pattern: '/repos/:owner/:repo/contents/:path*',
      handle: (call, params) => world.inTurn(() => write(world, call, params)),
    },
  ];
}

/** The repository of a route whose objects the caller may read. */
export async function readableRepo(
  world: World,
  call: Call,
  params: Record<string, string>,
): Promise<RepoEntry> {
  const repo = await repoFor(world, call, param(params, 'owner'), param(params, 'repo'));
  const facts = await repoFacts(world, repo);
  if (facts.private === true) needPermission(call.caller, 'contents', 'read');
  return repo;
}

async function read(world: World, call: Call, params: Record<string, string>): Promise<Answer> {
  const repo = await readableRepo(world, call, params);
  const path = (params.path ?? '').replace(/^\/+|\/+$/g, '');
  const ref = call.query.get('ref') ?? branchOf(await repoFacts(world, repo));
  const commit = await resolveCommit(repo.gitDir, ref);
  if (!commit) {
    const empty = (await resolveCommit(repo.gitDir, 'HEAD')) === undefined;
    throw new Refusal(404, empty ? 'This repository is empty.' : `No commit found for the ref ${ref}`);
  }
  const entry = await entryAt(repo.gitDir, commit, path);
  if (!entry) throw new Refusal(404, 'Not Found');
  const place = { world, repo, ref };
  if (entry.type === 'tree') {
    const entries = await listFolder(repo.gitDir, entry.sha);
    return {
      status: 200,
      body: entries.map((one) => describe(place, one, path ? `${path}/${one.path}` : one.path)),
    };
  }
  const bytes = await readBlob(repo.gitDir, entry.sha);
  if (/\braw\b/.test(String(call.headers.accept ?? ''))) {
    return { status: 200, headers: { 'content-type': 'application/vnd.github.raw; charset=utf-8' }, bytes };
  }
  return { status: 200, body: { ...describe(place, entry, path), ...inline(bytes) } };
}

function inline(bytes: Buffer): JsonObject {
  if (bytes.length > maxInlineBytes) return { content: '', encoding: 'none' };
  const lines = bytes.toString('base64').replace(/.{60}/g, '$&\n');
  return { content: lines.endsWith('\n') || lines === '' ? lines : `${lines}\n`, encoding: 'base64' };
}

interface Place {
  world: World;
  repo: RepoEntry;
  ref: string;
}

function describe({ world, repo, ref }: Place, entry: TreeEntry, path: string): JsonObject {
  const type = entry.type === 'tree' ? 'dir' : entry.mode === '120000' ? 'symlink' : 'file';
  const api = `${world.url}/repos/${fullName(repo)}`;
  const url = `${api}/contents/${path.split('/').map(encodeURIComponent).join('/')}?ref=${encodeURIComponent(ref)}`;
  const html = `${world.url}/${fullName(repo)}/blob/${ref}/${path}`;
  const git = `${api}/git/${entry.type}s/${entry.sha}`;
  return {
    type: entry.type === 'commit' ? 'submodule' : type,
    size: entry.size,
    name: path.split('/').at(-1) ?? '',
    path,
    sha: entry.sha,
    url,
    git_url: git,
    html_url: html,
    download_url: null,
    _links: { self: url, git, html },
  };
}

async function write(world: World, call: Call, params: Record<string, string>): Promise<Answer> {
  const repo = await readableRepo(world, call, params);
  needPermission(call.caller, 'contents', 'write');
  if (!(await may(world, call.caller, repo, 'push')))
    throw new Refusal(403, 'Must have push access to repository');
  const body = jsonOf(call);
  const path = param(params, 'path');
  const branch = textAt(body, 'branch') || branchOf(await repoFacts(world, repo));
  const head = await resolveCommit(repo.gitDir, `refs/heads/${branch}`);
  const present = head ? await entryAt(repo.gitDir, head, path) : undefined;
  checkBlob(present, body, call.method);
  const content = call.method === 'DELETE' ? null : Buffer.from(textAt(body, 'content'), 'base64');
  const wish = { branch, files: { [path]: content }, message: textAt(body, 'message') || `Change ${path}` };
  const atS = Math.floor(world.now() / 1000);
  const sha = await commitFiles(repo.gitDir, { ...wish, author: loginOf(call.caller), atS });
  const entry = await entryAt(repo.gitDir, sha, path);
  const commit = {
    sha,
    message: wish.message,
    url: `${world.url}/repos/${fullName(repo)}/git/commits/${sha}`,
  };
  const shown = entry ? describe({ world, repo, ref: branch }, entry, path) : null;
  return { status: present ? 200 : 201, body: { content: shown, commit } };
}

/** A change names the blob it replaces, so that nobody's work is overwritten unseen. */
function checkBlob(present: TreeEntry | undefined, body: JsonObject, method: string): void {
  const given = textAt(body, 'sha');
  if (!present && method === 'DELETE') throw new Refusal(404, 'Not Found');
  if (!present) return;
  if (!given) throw invalid('Content', 'sha', 'Invalid request. "sha" wasn\'t supplied.');
  if (given !== present.sha) throw new Refusal(409, `${present.path} does not match ${given}`);
}
