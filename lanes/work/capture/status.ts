/** What `git status` says after everything was added: what the tree changes, and what git did not take. */
import type { CaptureGit } from './capture-git.ts';
import { nulList } from './paths.ts';

const GITLINK_MODE = '160000';
const NO_FILE = '000000';

export interface Change {
  readonly path: string;
  /** Octal, as git writes it; `000000` where there is no file. */
  readonly oldMode: string;
  readonly newMode: string;
}

export interface Status {
  readonly changes: readonly Change[];
  /** In the index, but its file is now another one. */
  readonly differing: readonly string[];
  /** Some file or folder is not in the index, and no ignore rule says why. */
  readonly untracked: boolean;
  /** Entries that ignore rules keep out of the patch; a folder that is ignored as a whole counts once. */
  readonly ignored: number;
  /** Repositories that `git add` took for submodules. */
  readonly newGitlinks: readonly string[];
}

const STATUS = [
  ...['--no-optional-locks', 'status', '--porcelain=v2', '-z', '--no-renames', '--no-ahead-behind'],
  ...['--untracked-files=normal', '--ignored=traditional', '--ignore-submodules=all'],
];

/** For `inTurn`; what they print is read by `parseStatusAndTree`. */
export const STATUS_AND_TREE = [STATUS, ['write-tree']];

/** Each line of the status ends with a NUL, and the name of the tree, which is the last, does not. */
export function parseStatusAndTree(stdout: Buffer): { status: Status; tree: string } {
  const end = stdout.lastIndexOf(0) + 1;
  return { status: parseStatus(stdout.subarray(0, end)), tree: stdout.toString('latin1', end).trim() };
}

/** One process for five questions. It locks and writes nothing, and never looks into submodules. */
export async function readStatus(git: CaptureGit): Promise<Status> {
  return parseStatus((await git.run(STATUS)).stdout);
}

function parseStatus(stdout: Buffer): Status {
  const changes: Change[] = [];
  const differing: string[] = [];
  const newGitlinks: string[] = [];
  let untracked = false;
  let ignored = 0;
  for (const line of nulList(stdout)) {
    if (line.startsWith('?')) untracked = true;
    else if (line.startsWith('!')) ignored += 1;
    // 1 XY sub mH mI mW hH hI path
    const [, state, oldMode, newMode, path] = CHANGED.exec(line) ?? [];
    if (state === undefined || oldMode === undefined || newMode === undefined || path === undefined) continue;
    if (state[0] !== '.') changes.push({ path, oldMode, newMode });
    if (state[1] !== '.' && newMode !== NO_FILE) differing.push(path);
    if (newMode === GITLINK_MODE && oldMode !== GITLINK_MODE) newGitlinks.push(path);
  }
  return { changes, differing, untracked, ignored, newGitlinks };
}

const CHANGED = /^1 (..) \S+ (\d+) (\d+) \d+ \S+ \S+ (.*)$/s;
