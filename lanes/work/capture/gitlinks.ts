/** Gitlinks (submodule entries) during a capture: out of the index while git looks at files, then back. */
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { type CaptureGit, nulInput, nulList } from './capture-git.ts';

const GITLINK_MODE = '160000';

/** Path to object name. */
export type Gitlinks = ReadonlyMap<string, string>;

export async function gitlinksIn(git: CaptureGit): Promise<Gitlinks> {
  const found = new Map<string, string>();
  const { stdout } = await git.run(['ls-files', '--stage', '-z']);
  for (const entry of nulList(stdout)) {
    const [about = '', path = ''] = entry.split('\t', 2);
    const [mode, object = ''] = about.split(' ');
    if (mode === GITLINK_MODE) found.set(path, object);
  }
  return found;
}

export async function takeOut(git: CaptureGit, gitlinks: Gitlinks): Promise<void> {
  if (gitlinks.size === 0) return;
  await git.run(['update-index', '--force-remove', '-z', '--stdin'], { input: nulInput(gitlinks.keys()) });
}

/**
 * Puts the base's gitlinks back where their folder is still there and holds no files of its own: an agent that
 * removed the folder removed the submodule, and one that put files there replaced it.
 */
export async function putBack(git: CaptureGit, gitlinks: Gitlinks): Promise<void> {
  const lines: string[] = [];
  for (const [path, object] of gitlinks) {
    const inside = await git.run(['ls-files', '-z', '--', Buffer.from(path, 'latin1').toString('utf8')]);
    if (inside.stdout.length === 0 && (await isOwnFolder(git.copy.paths.work, path))) {
      lines.push(`${GITLINK_MODE} ${object}\t${path}`);
    }
  }
  if (lines.length > 0) await git.run(['update-index', '-z', '--index-info'], { input: nulInput(lines) });
}

/** False for what is reached through a symbolic link, and for files, which `ls-files` has shown already. */
async function isOwnFolder(work: string, path: string): Promise<boolean> {
  const full = join(work, Buffer.from(path, 'latin1').toString('utf8'));
  return (await realpath(full).catch(() => null)) === full;
}
