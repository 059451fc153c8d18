/**
 * The bare repository behind each GitHub repository: real git objects, read and written by git itself.
 */
import { execa } from 'execa';

/** Path -> new text; null removes the path. */
export type Files = Record<string, string | Buffer | null>;

export interface TreeEntry {
  mode: string;
  type: string;
  sha: string;
  size: number;
  path: string;
}

export interface CommitFacts {
  sha: string;
  tree: string;
  parents: string[];
  author: { name: string; email: string; date: string };
  committer: { name: string; email: string; date: string };
  message: string;
}

/** Settings that keep the machine's own git configuration out, and let git open a directory of any owner. */
export const gitEnvironment = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_CONFIG_COUNT: '2',
  GIT_CONFIG_KEY_0: 'safe.directory',
  GIT_CONFIG_VALUE_0: '*',
  GIT_CONFIG_KEY_1: 'http.receivepack',
  GIT_CONFIG_VALUE_1: 'true',
};

async function git(gitDir: string, args: string[], input?: Buffer): Promise<Buffer | undefined> {
  const result = await execa('git', ['--git-dir', gitDir, ...args], {
    env: gitEnvironment,
    encoding: 'buffer',
    stripFinalNewline: false,
    reject: false,
    maxBuffer: 200_000_000,
    ...(input ? { input } : { stdin: 'ignore' as const }),
  });
  return result.exitCode === 0 ? Buffer.from(result.stdout) : undefined;
}

/** Makes an empty bare repository whose HEAD is the branch. */
export async function initBare(gitDir: string, branch: string): Promise<void> {
  await git(gitDir, ['init', '-q', '--bare', '-b', branch]);
}

export interface CommitWish {
  branch: string;
  files: Files;
  message: string;
  author: string;
  /** Seconds since the epoch. */
  atS: number;
}

/** Adds one commit on top of the branch, which need not exist yet, and gives back its id. */
export async function commitFiles(gitDir: string, wish: CommitWish): Promise<string> {
  const ref = `refs/heads/${wish.branch}`;
  const parent = await resolveCommit(gitDir, ref);
  const who = `${wish.author} <${wish.author}@users.noreply.github.test> ${wish.atS} +0000`;
  const parts: Buffer[] = [
    Buffer.from(`commit ${ref}\ncommitter ${who}\n`),
    dataOf(Buffer.from(wish.message)),
  ];
  if (parent) parts.push(Buffer.from(`from ${parent}\n`));
  for (const [path, content] of Object.entries(wish.files)) {
    const quoted = `"${path.replace(/["\\]/g, '\\$&')}"`;
    if (content === null) parts.push(Buffer.from(`D ${quoted}\n`));
    else parts.push(Buffer.from(`M 100644 inline ${quoted}\n`), dataOf(Buffer.from(content)));
  }
  const done = await git(gitDir, ['fast-import', '--quiet'], Buffer.concat(parts));
  const sha = await resolveCommit(gitDir, ref);
  if (!done || !sha || sha === parent) throw new Error(`git could not commit to ${wish.branch} in ${gitDir}`);
  return sha;
}

function dataOf(content: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`data ${content.length}\n`), content, Buffer.from('\n')]);
}

/** The commit that a ref, branch or sha names; undefined if there is none. */
export async function resolveCommit(gitDir: string, name: string): Promise<string | undefined> {
  const args = ['rev-parse', '--quiet', '--verify', '--end-of-options', `${name}^{commit}`];
  return (await git(gitDir, args))?.toString('utf8').trim();
}

/** The entry at a path, the root for an empty path; undefined if there is none. */
export async function entryAt(gitDir: string, commit: string, path: string): Promise<TreeEntry | undefined> {
  if (path === '') return { mode: '040000', type: 'tree', sha: commit, size: 0, path: '' };
  return parseTree(await git(gitDir, ['ls-tree', '-z', '-l', commit, '--', path]))[0];
}

/** The entries of a folder, names only in `path`. */
export async function listFolder(gitDir: string, treeish: string): Promise<TreeEntry[]> {
  return parseTree(await git(gitDir, ['ls-tree', '-z', '-l', treeish]));
}

export async function readBlob(gitDir: string, sha: string): Promise<Buffer> {
  return (await git(gitDir, ['cat-file', 'blob', sha])) ?? Buffer.alloc(0);
}

function parseTree(output: Buffer | undefined): TreeEntry[] {
  const lines = output?.toString('utf8').split('\0').filter(Boolean) ?? [];
  return lines.map((line) => {
    const [facts = '', path = ''] = line.split('\t');
    const [mode = '', type = '', sha = '', size = ''] = facts.split(/ +/);
    return { mode, type, sha, size: Number(size) || 0, path };
  });
}

/** What a commit says about itself. */
export async function readCommit(gitDir: string, sha: string): Promise<CommitFacts | undefined> {
  const format = ['%H', '%T', '%P', '%an', '%ae', '%aI', '%cn', '%ce', '%cI', '%B'].join('%x00');
  const output = await git(gitDir, ['show', '-s', `--format=${format}`, sha]);
  if (!output) return undefined;
  const [
    id = '',
    tree = '',
    parents = '',
    an = '',
    ae = '',
    ad = '',
    cn = '',
    ce = '',
    cd = '',
    message = '',
  ] = output.toString('utf8').split('\0');
  return {
    sha: id,
    tree,
    parents: parents.split(' ').filter(Boolean),
    author: { name: an, email: ae, date: ad },
    committer: { name: cn, email: ce, date: cd },
    message: message.trimEnd(),
  };
}

/** Ids of the commits that a name leads to, newest first, at most `limit`. */
export async function listCommits(gitDir: string, name: string, limit: number): Promise<string[]> {
  const args = ['rev-list', `--max-count=${limit}`, '--end-of-options', name];
  return (await git(gitDir, args))?.toString('utf8').split('\n').filter(Boolean) ?? [];
}

/** Branch names with their commits. */
export async function listBranches(gitDir: string): Promise<Array<{ name: string; sha: string }>> {
  const output = await git(gitDir, [
    'for-each-ref',
    '--format=%(refname:lstrip=2) %(objectname)',
    'refs/heads',
  ]);
  const lines = output?.toString('utf8').split('\n').filter(Boolean) ?? [];
  return lines.map((line) => {
    const [name = '', sha = ''] = line.split(' ');
    return { name, sha };
  });
}

/** Points HEAD at another branch. */
export async function setHead(gitDir: string, branch: string): Promise<void> {
  await git(gitDir, ['symbolic-ref', 'HEAD', `refs/heads/${branch}`]);
}
