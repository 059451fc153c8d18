/**
 * Durable files: what these functions wrote is still there after a power cut. A full, read-only or broken disk
 * becomes the typed error `disk`, so that a run can be parked for a person instead of being retried in vain.
 */
import { constants } from 'node:fs';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { LaneError } from '../errors.ts';

const DISK_CODES = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO']);
const DISK_TEXT = /No space left on device|Disk quota exceeded|Read-only file system|Input\/output error/;

/** The system's error code of an unknown error, such as `ENOENT`, or undefined. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** True if another program's words (C locale) say that the disk is full, read-only or broken. */
export function saysDisk(text: string): boolean {
  return DISK_TEXT.test(text);
}

/** Runs `work`; an error of the disk becomes LaneError `disk`, every other error passes unchanged. */
export async function onDisk<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (DISK_CODES.has(errorCode(error) ?? '')) throw new LaneError('disk', what, { cause: error });
    throw error;
  }
}

/** Makes the entries of a folder durable: a rename or a new file survives a power cut only after this. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Renames within one file system and makes both folders durable. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await onDisk(`cannot rename ${from}`, async () => {
    await rename(from, to);
    await syncFolder(dirname(to));
    if (dirname(from) !== dirname(to)) await syncFolder(dirname(from));
  });
}

/**
 * Replaces a file as a whole: a reader sees the old or the new content, never a part. The caller holds the lock
 * under which this path is written, so a left-over temporary file is from a dead writer.
 */
export async function writeDurably(path: string, content: string): Promise<void> {
  const temporary = `${path}.tmp`;
  await onDisk(`cannot write ${path}`, async () => {
    await rm(temporary, { force: true });
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    await syncFolder(dirname(path));
  });
}

/** The text of a file, or null if there is none. */
export async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
