/** What the tree does not hold, each with its reason. Nothing is passed over: what nobody can explain is `unsettled`. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Missing } from '../../records/copies.ts';
import { errorCode } from '../files.ts';
import type { CaptureGit } from './capture-git.ts';
import type { NotableFile } from './look.ts';
import { diskPath, nulList, readablePath } from './paths.ts';
import { type EmbeddedRepository, isWithin, nameOf } from './repositories.ts';
import type { Status } from './status.ts';

export interface Aside {
  readonly status: Status;
  /** What `git add` said. */
  readonly warnings: string;
  readonly special: readonly string[];
  readonly unreadable: readonly string[];
  readonly large: readonly NotableFile[];
  readonly repositories: readonly EmbeddedRepository[];
}

/** Holds no more than the content of one name: a FIFO opens at once, a link is not followed. */
const LOOK_ONLY = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

export async function leftBehind(git: CaptureGit, aside: Aside): Promise<Missing[]> {
  const { status, special, large, repositories } = aside;
  const named = new Set([...special, ...large.map(({ path }) => path)]);
  const explained = (path: string) =>
    named.has(path) || repositories.some((repository) => isWithin(path.replace(/\/$/, ''), repository.path));
  const missing: Missing[] = [];
  const unread = [...status.differing, ...(status.untracked ? await untracked(git) : [])];
  for (const path of unread.filter((each) => !explained(each))) {
    missing.push({ path: readablePath(path), why: await whyNotTaken(git, path) });
  }
  const closed = [...aside.unreadable.map(readablePath), ...unopened(aside.warnings)];
  const already = new Set(missing.map(({ path }) => path));
  for (const path of new Set(closed)) if (!already.has(path)) missing.push({ path, why: 'not_readable' });
  const name = (paths: readonly string[], why: Missing['why']) =>
    missing.push(...paths.map((path) => ({ path: readablePath(path), why })));
  name(
    [...repositories.map(nameOf), ...status.newGitlinks.filter((path) => !explained(path))],
    'embedded_repository',
  );
  name(
    large.map(({ path }) => path),
    'too_big',
  );
  name(special, 'special_file');
  return missing;
}

/** The folders that git could not open. It cuts its messages at 4 KB: one about a longer path has no end. */
function unopened(warnings: string): string[] {
  const found = warnings.matchAll(/could not open directory '(.*?)(?:\/?':|$)/gm);
  return [...found].map(([, path]) => path ?? '.');
}

async function untracked(git: CaptureGit): Promise<string[]> {
  return nulList((await git.run(['ls-files', '-z', '--others', '--exclude-standard'])).stdout);
}

/** Git could have taken a file that opens: it changed since, or while it was read. So did one that is gone. */
async function whyNotTaken(git: CaptureGit, path: string): Promise<Missing['why']> {
  if (path.endsWith('/')) return 'embedded_repository';
  try {
    await (await open(diskPath(git.copy.paths.work, path), LOOK_ONLY)).close();
    return 'unsettled';
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? 'unsettled' : 'not_readable';
  }
}
