/** The files of a new copy: its checkout, and the two git directories that borrow every object from the mirror. */
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from './git.ts';

const CONFIG = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tlogallrefupdates = true\n';
const AGENT_IDENTITY = '[user]\n\tname = Lanekeeper agent\n\temail = agent@lanekeeper.invalid\n';

/** The files of a large tree are written by a worker for each core. Their start costs as much as some hundred files. */
const MANY_FILES = ['-c', 'checkout.workers=0', '-c', 'checkout.thresholdForParallelism=1000'];

/** What is needed of a copy to fill it. */
interface Fillable {
  readonly paths: { readonly work: string; readonly capGit: string; readonly indexBase: string };
  readonly borrowedObjects: string;
  readonly record: { readonly base: string; readonly branch: string };
}

/**
 * One git process fills the copy. What `git init` would write is written here: few small files, and each start of git
 * costs as much as a hundred of them. Nobody else can see the folders yet.
 * Throws LaneError `git_failed` or `disk`, or the signal's reason.
 */
export async function fillCopy(copy: Fillable, signal: AbortSignal): Promise<void> {
  const { work, capGit, indexBase } = copy.paths;
  const { base, branch } = copy.record;
  const dotGit = join(work, '.git');
  await mkdir(work, { mode: 0o700 });
  await Promise.all([
    makeGitDir(dotGit, copy.borrowedObjects, {
      HEAD: `ref: refs/heads/${branch}\n`,
      config: CONFIG + AGENT_IDENTITY,
      // Not a file of its own: the name of a branch comes from another machine, and must not become a path here.
      'packed-refs': `# pack-refs with: peeled fully-peeled sorted \n${base} refs/heads/${branch}\n`,
    }),
    makeGitDir(capGit, copy.borrowedObjects, { HEAD: `${base}\n`, config: CONFIG }),
  ]);
  await git({ cwd: work, signal, args: [...MANY_FILES, 'read-tree', '-m', '-u', base] });
  await copyFile(join(dotGit, 'index'), indexBase);
}

/** A git directory that borrows every object. See gitrepository-layout(5) for what must be there. */
async function makeGitDir(path: string, objects: string, files: Record<string, string>): Promise<void> {
  await mkdir(join(path, 'objects', 'info'), { recursive: true });
  await Promise.all([
    mkdir(join(path, 'objects', 'pack')),
    mkdir(join(path, 'refs', 'heads'), { recursive: true }),
    writeFile(join(path, 'objects', 'info', 'alternates'), `${objects}\n`),
    ...Object.entries(files).map(([name, content]) => writeFile(join(path, name), content)),
  ]);
}
