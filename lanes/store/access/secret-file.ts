/** Files with secrets: for our user's eyes only, whole or not at all, on the disk before anybody rests on them. */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { LaneError } from '../../errors.ts';

/** Random and long enough that nobody guesses it; it needs no quoting anywhere. */
export function newPassword(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * Checks the mode of a secret file.
 * @throws LaneError `invalid_config` where others can read it too.
 */
export function demandPrivate(file: string, mode: number): void {
  if ((mode & 0o077) !== 0)
    throw new LaneError('invalid_config', `${file} can be read by others. Run: chmod 600 ${file}`);
}

/**
 * Reads a secret file; null where there is none.
 * @throws LaneError `invalid_config` where others can read it too, or we cannot.
 */
export function readSecretFile(file: string): string | null {
  try {
    demandPrivate(file, statSync(file).mode);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof LaneError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new LaneError('invalid_config', `${file} cannot be read: ${String(error)}`, { cause: error });
  }
}

/**
 * Makes a secret file that is not there yet.
 * @throws LaneError `invalid_config` where it is, `disk`.
 */
export function makeSecretFile(file: string, text: string): void {
  try {
    write(file, text);
  } catch (cause) {
    const there = (cause as NodeJS.ErrnoException).code === 'EEXIST';
    if (there)
      throw new LaneError('invalid_config', `${file} is there already; name another file`, { cause });
    throw new LaneError('disk', String(cause), { cause });
  }
}

/**
 * Puts a secret file in the place of the one that is there.
 * @throws LaneError `disk`: then the old one stays.
 */
export function replaceSecretFile(file: string, text: string): void {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    write(draft, text);
    renameSync(draft, file);
    syncFolder(dirname(file));
  } catch (cause) {
    rmSync(draft, { force: true });
    throw new LaneError('disk', String(cause), { cause });
  }
}

function write(file: string, text: string): void {
  const descriptor = openSync(file, 'wx', 0o600);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Without it the rename itself may not outlive a power cut. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
