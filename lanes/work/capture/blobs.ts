/** Files that a patch cannot hold as they are, kept whole beside it: too large, or changed by git's conversions. */
import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LaneError } from '../../errors.ts';
import type { BigBlob } from '../../records/copies.ts';
import { saysDisk } from '../files.ts';
import { blobPath } from '../outbox.ts';
import { runProgram } from '../program.ts';
import { TOOL_PATH } from '../tools.ts';
import type { Workplace } from '../workplace.ts';
import type { CaptureGit } from './capture-git.ts';
import { hashBlob } from './hash.ts';
import { canBeNamed, readablePath } from './paths.ts';

/** Of one file, holes counted: hashing takes some seconds. A larger one stays in the copy, which is then kept. */
const MAX_BLOB_BYTES = 4 * 1024 ** 3;

export interface Keepsake {
  /** As `nulList` gives it. */
  readonly path: string;
  readonly bytes: number;
}

/**
 * Copies them into the outbox, holes and all, and makes them durable. Those that are not in the answer are only in the
 * copy: over the bound, under a name that no record can hold, or unreadable.
 * @throws LaneError `disk`.
 */
export async function keepBlobs(
  place: Workplace,
  git: CaptureGit,
  files: readonly Keepsake[],
): Promise<BigBlob[]> {
  const kept: BigBlob[] = [];
  for (const { path, bytes } of files) {
    const blob = bytes <= MAX_BLOB_BYTES && canBeNamed(path) ? await keepBlob(place, git, path) : null;
    if (blob !== null) kept.push(blob);
  }
  if (kept.length > 0) await place.files.syncFolder(place.outboxDir);
  return kept;
}

async function keepBlob(place: Workplace, git: CaptureGit, path: string): Promise<BigBlob | null> {
  const from = join(git.copy.paths.work, readablePath(path));
  const temporary = join(place.outboxDir, 'tmp', `${git.copy.id}.blob`);
  await rm(temporary, { force: true });
  const copied = await copySparse(from, temporary);
  if (!copied) return null;
  const file = await open(temporary, 'r');
  try {
    await place.files.sync(file, temporary);
  } finally {
    await file.close();
  }
  const { size, mode } = await stat(temporary);
  const object = await hashBlob(temporary, size, git.copy.record.base);
  await rename(temporary, blobPath(place, git.copy.id, object));
  return { path: readablePath(path), mode: (mode & 0o100) === 0 ? '100644' : '100755', object, bytes: size };
}

/**
 * Copies one file without filling its holes. False where it cannot be read.
 * @throws LaneError `disk`.
 */
export async function copySparse(from: string, to: string): Promise<boolean> {
  const { code, stderr } = await runProgram({
    file: 'cp',
    args: [
      '--sparse=always',
      '--no-dereference',
      '--preserve=mode',
      '--remove-destination',
      '-T',
      '--',
      from,
      to,
    ],
    env: { PATH: TOOL_PATH, LC_ALL: 'C' },
    cwd: '/',
  });
  if (code === 0) return true;
  const said = stderr.toString('utf8');
  if (saysDisk(said)) throw new LaneError('disk', `cannot copy ${from}`, { cause: new Error(said) });
  return false;
}
