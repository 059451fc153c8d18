/**
 * The tree that evidence is held against, read from the objects of a capture. Never from the agent's folder: what lies
 * there beside the tree (build output, ignored files) is neither delivered nor proof.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onDisk } from '../files.ts';
import { git, gitText } from '../git.ts';

/** Where the objects are, and which of them count. */
export interface ProofTree {
  /** The capture's private git directory: the mirror's objects and the captured ones. */
  readonly gitDir: string;
  /** The folders that a checkout borrows from; whoever runs git in it must be able to read them. */
  readonly objectDirs: readonly string[];
  readonly base: string;
  /** The tree that was captured: base plus patch. */
  readonly captured: string;
  /** What evidence must hold on: the captured tree where the patch is part of the result, else the base's. */
  readonly subject: { readonly tree: string; readonly name: string };
}

/** The largest file in which a text is looked for. */
const maxFileBytes = 5 * 1024 * 1024;

/** Both sides of every change that the patch makes. A rename is a removal and an addition here. */
export async function changedPaths(proof: ProofTree): Promise<string[]> {
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--name-only', proof.base, proof.captured];
  const { stdout } = await git({ args, cwd: proof.gitDir, env: { GIT_DIR: proof.gitDir } });
  return stdout.toString('utf8').split('\0').filter(Boolean);
}

/** The tree of a commit. */
export async function treeOf(gitDir: string, commit: string): Promise<string> {
  return await gitText({ args: ['rev-parse', `${commit}^{tree}`], cwd: gitDir, env: { GIT_DIR: gitDir } });
}

export type FileReading =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'none'; readonly why: string };

/** Reads one ordinary file of the tree. Links are not followed. */
export async function readTreeFile(proof: ProofTree, path: string): Promise<FileReading> {
  if (path.includes('\0') || path.split('/').some((part) => ['', '.', '..'].includes(part))) {
    return { kind: 'none', why: 'not a path inside the repository' };
  }
  const at = { cwd: proof.gitDir, env: { GIT_DIR: proof.gitDir } };
  const listing = await git({ ...at, args: ['ls-tree', '-l', '-z', proof.subject.tree, '--', path] });
  const entry = /^(\d+) (\w+) ([0-9a-f]+) +(\d+|-)\t/.exec(listing.stdout.toString('utf8'));
  const [, mode, , object, size] = entry ?? [];
  if (mode === undefined || object === undefined) return { kind: 'none', why: 'there is no such file' };
  if (mode !== '100644' && mode !== '100755') return { kind: 'none', why: 'it is not an ordinary file' };
  if (Number(size) > maxFileBytes) return { kind: 'none', why: `it is larger than ${maxFileBytes} bytes` };
  const { stdout } = await git({ ...at, args: ['cat-file', 'blob', object] });
  return { kind: 'text', text: stdout.toString('utf8').replaceAll('\r\n', '\n') };
}

/** Whether a commit is in the history of the base. What the agent committed itself is not. */
export async function isInHistory(proof: ProofTree, sha: string): Promise<boolean> {
  const at = { cwd: proof.gitDir, env: { GIT_DIR: proof.gitDir }, okCodes: [0, 1, 128] };
  const named = await git({ ...at, args: ['rev-parse', '--verify', '--quiet', `${sha}^{commit}`] });
  if (named.code !== 0) return false;
  const commit = named.stdout.toString('utf8').trim();
  return (await git({ ...at, args: ['merge-base', '--is-ancestor', commit, proof.base] })).code === 0;
}

/**
 * Makes a clean checkout of the tree in a folder that does not exist yet, as one commit on the base, so that a check
 * that asks git sees an ordinary repository.
 * @throws LaneError `disk` or `git_failed`.
 */
export async function checkOut(proof: ProofTree, folder: string, signal: AbortSignal): Promise<void> {
  await onDisk('cannot make a clean checkout', async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const at = { cwd: folder, signal };
    await git({ ...at, args: ['init', '--quiet', '--template=', '--initial-branch=proof'] });
    const info = join(folder, '.git', 'objects', 'info');
    await mkdir(info, { recursive: true });
    await writeFile(join(info, 'alternates'), `${proof.objectDirs.join('\n')}\n`);
    const { tree, name } = proof.subject;
    const commit = await gitText({
      ...at,
      args: ['commit-tree', tree, '-p', proof.base, '-m', `Proof: ${name}`],
      env: committer,
    });
    await git({ ...at, args: ['update-ref', 'refs/heads/proof', commit] });
    await git({ ...at, args: ['read-tree', '-m', '-u', commit] });
  });
}

const committer = {
  GIT_AUTHOR_NAME: 'Lanekeeper',
  GIT_AUTHOR_EMAIL: 'proof@lanekeeper.invalid',
  GIT_COMMITTER_NAME: 'Lanekeeper',
  GIT_COMMITTER_EMAIL: 'proof@lanekeeper.invalid',
};
