/**
 * Clone, fetch and push over smart HTTP: `git http-backend` as a CGI child, behind GitHub's access rules.
 *
 * A token comes as the password of Basic authentication (`x-access-token:<token>`). Public repositories are read
 * without one; private ones with `contents`; a push needs a person with write permission.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { execa } from 'execa';
import { visible } from './access.ts';
import type { Caller } from './call.ts';
import { Refusal } from './call.ts';
import { callerOfToken } from './callers.ts';
import { gitEnvironment } from './git.ts';
import { fullName, type RepoEntry } from './repos.ts';
import { rightsOf } from './rights.ts';
import type { World } from './world.ts';

const gitPath = /^\/([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/;

export interface GitRequest {
  owner: string;
  name: string;
  /** Path within the repository. */
  rest: string;
  query: string;
}

/** Reads a git request off a URL; undefined for anything else. */
export function gitRequestOf(path: string, query: string): GitRequest | undefined {
  const found = gitPath.exec(path);
  const [, owner, name, rest] = found ?? [];
  return owner && name && rest ? { owner, name, rest, query } : undefined;
}

/** Serves git, one child process a request; `stop` ends the children that still run. */
export class GitHttp {
  readonly #world: World;
  readonly #stopping = new AbortController();

  constructor(world: World) {
    this.#world = world;
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Answers one git request; throws a Refusal before anything was written. */
  async serve(git: GitRequest, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const repo = this.#find(git);
    await this.#allow(git, repo, request.headers.authorization);
    const child = execa('git', ['http-backend'], {
      env: cgiEnvironment(git, repo, request),
      buffer: false,
      reject: false,
      stderr: 'ignore',
      cancelSignal: this.#stopping.signal,
      forceKillAfterDelay: 500,
    });
    child.stdin.on('error', () => request.unpipe());
    request.pipe(child.stdin);
    response.on('close', () => child.kill());
    await forward(child.stdout, response);
    await child;
  }

  #find(git: GitRequest): RepoEntry {
    const repo = this.#world.repos.named(git.owner, git.name);
    if (repo) return repo;
    const moved = this.#world.repos.formerly(git.owner, git.name);
    if (!moved) throw new Refusal(404, 'Repository not found.');
    const location = `${this.#world.url}/${fullName(moved)}.git/${git.rest}${git.query ? `?${git.query}` : ''}`;
    throw new Refusal(301, 'Moved Permanently', {}, { location });
  }

  async #allow(git: GitRequest, repo: RepoEntry, header: string | undefined): Promise<void> {
    const caller = basicCaller(this.#world, header);
    if (!(await mayRead(this.#world, caller, repo))) {
      if (caller.kind === 'anonymous') throw authenticate();
      throw new Refusal(404, 'Repository not found.');
    }
    const pushes = git.rest === 'git-receive-pack' || git.query.includes('git-receive-pack');
    if (!pushes) return;
    if (caller.kind === 'anonymous') throw authenticate();
    const rights =
      caller.kind === 'person' ? await rightsOf(this.#world, repo, caller.person.login) : undefined;
    if (!rights?.permissions.push) throw new Refusal(403, `Write access to ${fullName(repo)} not granted.`);
  }
}

async function mayRead(world: World, caller: Caller, repo: RepoEntry): Promise<boolean> {
  const seen = await visible(world, caller, repo);
  if (!seen) return false;
  if (!seen.private || caller.kind !== 'installation') return true;
  return caller.token.permissions.contents !== undefined;
}

function basicCaller(world: World, header: string | undefined): Caller {
  if (!header) return { kind: 'anonymous' };
  const found = /^basic\s+(\S+)$/i.exec(header);
  const [, password] = /^[^:]*:(.*)$/s.exec(Buffer.from(found?.[1] ?? '', 'base64').toString('utf8')) ?? [];
  if (!password) throw authenticate();
  try {
    return callerOfToken(world, password);
  } catch {
    throw authenticate();
  }
}

function authenticate(): Refusal {
  return new Refusal(401, 'Authentication required', {}, { 'www-authenticate': 'Basic realm="GitHub"' });
}

function cgiEnvironment(git: GitRequest, repo: RepoEntry, request: IncomingMessage): Record<string, string> {
  const header = (name: string) => String(request.headers[name] ?? '');
  const length = request.headers['content-length'];
  return {
    ...gitEnvironment,
    GIT_PROJECT_ROOT: repo.gitDir,
    GIT_HTTP_EXPORT_ALL: '1',
    PATH_INFO: `/${git.rest}`,
    QUERY_STRING: git.query,
    REQUEST_METHOD: request.method ?? 'GET',
    REMOTE_USER: 'standin',
    REMOTE_ADDR: '127.0.0.1',
    CONTENT_TYPE: header('content-type'),
    HTTP_CONTENT_ENCODING: header('content-encoding'),
    GIT_PROTOCOL: header('git-protocol'),
    ...(length === undefined ? {} : { CONTENT_LENGTH: length }),
  };
}

const maxHeadBytes = 65_536;

/** Reads the CGI head, then passes the rest of the stream on. */
async function forward(output: AsyncIterable<Uint8Array>, response: ServerResponse): Promise<void> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of output) {
    if (head === undefined) {
      if (!response.write(chunk)) await drained(response);
      continue;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0 && head.length < maxHeadBytes) continue;
    writeHead(head.subarray(0, Math.max(end, 0)).toString('latin1'), response);
    response.write(head.subarray(end + 4));
    head = undefined;
  }
  if (head !== undefined) response.writeHead(502);
  response.end();
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('drain', resolve);
    response.once('close', resolve);
  });
}

function writeHead(head: string, response: ServerResponse): void {
  let status = 200;
  for (const line of head.split('\r\n')) {
    const [, name, value] = /^([^:]+):\s*(.*)$/.exec(line) ?? [];
    if (!name || value === undefined) continue;
    if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
  response.writeHead(status);
}
