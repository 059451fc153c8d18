/** The first half of a capture: everything that the copy's files are now, as one git tree. */
import { rm } from 'node:fs/promises';
import type { CaptureKind, Missing } from '../../records/copies.ts';
import type { Copy } from '../copy.ts';
import { addAll, attributesFile } from './add.ts';
import { type CaptureGit, captureGit, startIndex } from './capture-git.ts';
import { listIndex, putBack, takeOut } from './gitlinks.ts';
import { type IndexFile, readIndex } from './index-file.ts';
import { tooLarge } from './large.ts';
import { leftBehind } from './left-behind.ts';
import { clearTheWay, lookAround, type NotableFile, type Surroundings } from './look.ts';
import { nulInput, nulList } from './paths.ts';
import { type EmbeddedRepository, embeddedIn, isWithin } from './repositories.ts';
import { type Change, parseStatusAndTree, readStatus, STATUS_AND_TREE, type Status } from './status.ts';

export interface TakenTree {
  readonly git: CaptureGit;
  readonly tree: string;
  /** What the tree changes of the base. */
  readonly changes: readonly Change[];
  /** Files that are not in the tree because of their size. */
  readonly large: readonly NotableFile[];
  readonly repositories: readonly EmbeddedRepository[];
  /** Whether git may have converted files on their way in. */
  readonly converts: boolean;
  /** Entries that ignore rules keep out of the patch; a folder that is ignored as a whole counts once. */
  readonly ignored: number;
  readonly missing: readonly Missing[];
  readonly rawAttributes: boolean;
  readonly baseIsEmpty: boolean;
}

/** Throws LaneError `git_failed`, `capture_failed` or `disk`, or the signal's reason. */
export async function takeTree(copy: Copy, kind: CaptureKind, signal?: AbortSignal): Promise<TakenTree> {
  const git = captureGit(copy, 'index.capture', copy.paths.work, signal);
  const { work, indexBase } = copy.paths;
  const [around, base] = await Promise.all([
    lookAround(work),
    readIndex(indexBase),
    startIndex(git, indexBase),
    rm(attributesFile(copy), { force: true }),
  ]);
  await clearTheWay(work, around, kind !== 'checkpoint');
  const seen = await withoutIgnored(git, base, {
    ...around,
    large: await tooLarge(work, base, around.large),
  });
  return { ...(await addAndName(git, base, seen)), converts: around.attributes };
}

/** The agent removed its checkout: nothing is known of its work, so the patch changes nothing and says so. */
export async function treeOfRemovedCopy(copy: Copy): Promise<TakenTree> {
  const git = captureGit(copy, 'index.capture', copy.paths.ctl);
  await startIndex(git, null);
  await git.run(['read-tree', copy.record.base]);
  const tree = await git.text(['write-tree']);
  const nothing = { changes: [], large: [], repositories: [], ignored: 0 };
  const flags = { converts: false, rawAttributes: false, baseIsEmpty: true };
  return { git, tree, ...nothing, ...flags, missing: [{ path: '.', why: 'copy_removed' }] };
}

/**
 * What ignore rules keep out of the patch is no loss to name. Submodules go out of the index first: git asks nothing
 * about paths below them. It runs status inside of them too, under the agent's configuration, whose filter would run
 * as us: they are put back when everything is added.
 */
async function withoutIgnored(git: CaptureGit, base: IndexFile, around: Surroundings): Promise<Surroundings> {
  await takeOut(git, base.gitlinks);
  const large = around.large.map(({ path }) => path);
  const asked = [...large, ...around.special, ...around.gitNames, ...around.unreadable];
  if (asked.length === 0) return around;
  // This command takes no path literally: the dot keeps a colon at its beginning from being magic.
  const input = nulInput(asked.map((path) => `./${path}`));
  const check = ['check-ignore', '-z', '--stdin'];
  const { stdout } = await git.run(check, { input, magic: true, okCodes: [0, 1] });
  const ignored = new Set(nulList(stdout).map((path) => path.slice(2)));
  return {
    ...around,
    large: around.large.filter(({ path }) => !ignored.has(path)),
    special: around.special.filter((path) => !ignored.has(path)),
    gitNames: around.gitNames.filter((path) => !ignored.has(path)),
    unreadable: around.unreadable.filter((path) => !ignored.has(path)),
  };
}

async function addAndName(
  git: CaptureGit,
  base: IndexFile,
  around: Surroundings,
): Promise<Omit<TakenTree, 'converts'>> {
  // Mostly nothing is left to do to the index once everything is added: then the rest goes with it.
  const atOnce = around.gitNames.length === 0 && base.gitlinks.size === 0;
  const added = await addAll(git, base, around.large, atOnce ? STATUS_AND_TREE : []);
  let repositories: EmbeddedRepository[] = [];
  if (around.gitNames.length > 0) {
    const listed = await listIndex(git);
    await takeOut(git, listed.gitlinks);
    repositories = embeddedIn(around.gitNames, listed.paths);
  }
  const outside = <T>(paths: readonly T[], pathOf: (item: T) => string) =>
    paths.filter((item) => !repositories.some(({ path }) => isWithin(pathOf(item), path)));
  const large = outside(around.large, ({ path }) => path);
  const special = outside(around.special, (path) => path);
  const { status, tree } = atOnce ? parseStatusAndTree(added.stdout) : await settle(git, base);
  const { warnings, rawAttributes } = added;
  const { unreadable } = around;
  const missing = await leftBehind(git, { status, warnings, special, large, repositories, unreadable });
  const { changes, ignored } = status;
  const baseIsEmpty = base.count === 0;
  return { git, tree, changes, large, repositories, ignored, missing, rawAttributes, baseIsEmpty };
}

/** The status while the base's submodules are out of the index, and the tree with those that are still there. */
async function settle(git: CaptureGit, base: IndexFile): Promise<{ status: Status; tree: string }> {
  const status = await readStatus(git);
  const back = await putBack(git, base.gitlinks);
  const changes = status.changes.filter(({ path }) => !back.has(path));
  return { status: { ...status, changes }, tree: await git.text(['write-tree']) };
}
