/** Gitlinks (submodule entries) during a capture: out of the index while git looks at files, then back. */
import { lstat, realpath } from 'node:fs/promises';
import type { CaptureGit } from './capture-git.ts';
import { diskPath, nulInput, nulList } from './paths.ts';

const GITLINK_MODE = '160000';

/** Path to object name. */
export type Gitlinks = ReadonlyMap<string, string>;

export interface Listed {
  readonly paths: readonly string[];
  readonly gitlinks: Gitlinks;
}

/** Everything that is in the index. */
export async function listIndex(git: CaptureGit): Promise<Listed> {
  const paths: string[] = [];
  const gitlinks = new Map<string, string>();
  const { stdout } = await git.run(['ls-files', '--stage', '-z']);
  for (const entry of nulList(stdout)) {
    const tab = entry.indexOf('\t');
    const [mode, object = ''] = entry.slice(0, tab).split(' ');
    const path = entry.slice(tab + 1);
    if (mode === GITLINK_MODE) gitlinks.set(path, object);
    else paths.push(path);
  }
  return { paths, gitlinks };
}

export async function takeOut(git: CaptureGit, gitlinks: Gitlinks): Promise<void> {
  if (gitlinks.size === 0) return;
  await git.run(['update-index', '--force-remove', '-z', '--stdin'], { input: nulInput(gitlinks.keys()) });
}

/**
 * Puts the base's gitlinks back where their folder is still there and holds no files of its own: an agent that
 * removed the folder removed the submodule, and one that put files there replaced it. Answers with those put back.
 */
export async function putBack(git: CaptureGit, gitlinks: Gitlinks): Promise<Set<string>> {
  const back = new Set<string>();
  if (gitlinks.size === 0) return back;
  const { paths } = await listIndex(git);
  for (const path of gitlinks.keys()) {
    const replaced = paths.some((other) => other === path || other.startsWith(`${path}/`));
    if (!replaced && (await isOwnFolder(git.copy.paths.work, path))) back.add(path);
  }
  const lines = [...back].map((path) => `${GITLINK_MODE} ${gitlinks.get(path)}\t${path}`);
  if (lines.length > 0) await git.run(['update-index', '-z', '--index-info'], { input: nulInput(lines) });
  return back;
}

/** False for what is reached through a symbolic link, and for a link itself. */
async function isOwnFolder(work: string, path: string): Promise<boolean> {
  const full = diskPath(work, path);
  const there = await lstat(full).catch(() => null);
  if (!there?.isDirectory()) return false;
  const real = await realpath(full, { encoding: 'buffer' }).catch(() => null);
  return real?.equals(full) ?? false;
}
