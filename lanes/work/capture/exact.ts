/**
 * Which files a checkout of the tree would not give back byte for byte: .gitattributes can say that line ends, keywords
 * or encodings are converted on their way in, and a mixture of line ends, say, does not come out again.
 */
import { createReadStream } from 'node:fs';
import { lstat, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Keepsake } from './blobs.ts';
import { type CaptureGit, captureGit } from './capture-git.ts';
import { readIndex } from './index-file.ts';
import { diskPath, nulInput } from './paths.ts';
import type { Change } from './status.ts';

/** The kind of file in an index entry's mode, gitformat-index(5). */
const REGULAR = 0o10;

/**
 * Checks the changed files out beside the copy, with the attributes that the tree itself has, and compares.
 * @throws LaneError `git_failed`, `disk`.
 */
export async function inexactFiles(git: CaptureGit, changes: readonly Change[]): Promise<Keepsake[]> {
  const { work, ctl, capGit } = git.copy.paths;
  const room = join(ctl, 'exact');
  const files = await candidates(git, changes);
  await rm(room, { recursive: true, force: true });
  await mkdir(room, { mode: 0o700 });
  try {
    await rm(join(capGit, 'info', 'attributes'), { force: true });
    // From the index only: the copy's own files would lend attributes that are ignored and go with it.
    const outside = captureGit(git.copy, 'index.capture', room);
    const checkout = ['checkout-index', '--force', '--quiet', '-z', '--stdin'];
    await outside.run(checkout, { input: nulInput(files), okCodes: [0, 1, 128] });
    const inexact: Keepsake[] = [];
    for (const path of files) {
      const there = await lstat(diskPath(work, path)).catch(() => null);
      if (!there?.isFile() || (await isSame(diskPath(work, path), diskPath(room, path)))) continue;
      inexact.push({ path, bytes: there.size });
    }
    return inexact;
  } finally {
    await rm(room, { recursive: true, force: true });
  }
}

/**
 * The files that the tree changes, and those that were written to and are as in the base once converted. Both indexes
 * have the times of the files' own: that of the capture was made from that of the base.
 */
async function candidates(git: CaptureGit, changes: readonly Change[]): Promise<string[]> {
  const files = new Set(changes.filter(({ newMode }) => newMode.startsWith('100')).map(({ path }) => path));
  const [before, after] = await Promise.all([git.copy.paths.indexBase, git.index].map(readIndex));
  const times = new Map<string, bigint>();
  for (const { path, ctimeNs } of before?.entries() ?? []) times.set(path, ctimeNs);
  for (const { path, mode, ctimeNs } of after?.entries() ?? []) {
    if (mode >> 12 === REGULAR && times.has(path) && times.get(path) !== ctimeNs) files.add(path);
  }
  return [...files];
}

async function isSame(one: Buffer, other: Buffer): Promise<boolean> {
  const sizes = await Promise.all([one, other].map((path) => lstat(path).catch(() => null)));
  if (!sizes[1]?.isFile() || sizes[0]?.size !== sizes[1].size) return false;
  const right = createReadStream(other)[Symbol.asyncIterator]();
  for await (const left of createReadStream(one)) {
    const { value } = await right.next();
    if (!Buffer.isBuffer(value) || !value.equals(left)) return false;
  }
  return true;
}
