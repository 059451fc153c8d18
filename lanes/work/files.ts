/**
 * Durable files: what these functions wrote is still there after a power cut. A full, read-only or broken disk
 * becomes the typed error `disk`, so that a run can be parked for a person instead of being retried in vain.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { LaneError } from '../errors.ts';

const DISK_CODES = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO']);
const DISK_TEXT = /No space left on device|Disk quota exceeded|Read-only file system|Input\/output error/;
/** Seen of git 2.39 on a full disk: it does not pass on what the system said. */
const GIT_DISK_TEXT =
  /couldn't write '|unable to write new.?index file|write failure on standard output|Out of diskspace/;

/** The system's error code of an unknown error, such as `ENOENT`, or undefined. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** True if another program's words (C locale) say that the disk is full, read-only or broken. */
export function saysDisk(text: string): boolean {
  return DISK_TEXT.test(text) || GIT_DISK_TEXT.test(text);
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

/** Makes what was written to an open file durable. `path` says which one it is. */
export type SyncFile = (file: FileHandle, path: string) => Promise<void>;

/** What durability rests on: handed in with the workplace, so that a disk can be broken where a test wants it. */
export interface Files {
  readonly sync: SyncFile;
  /** Makes the entries of a folder durable: a rename or a new file survives a power cut only after this. */
  syncFolder(path: string): Promise<void>;
  /** Renames within one file system and makes both folders durable. Throws LaneError `disk`. */
  renameDurably(from: string, to: string): Promise<void>;
  /**
   * Replaces a file as a whole: a reader sees the old or the new content, never a part. The caller holds the lock
   * under which this path is written, so a left-over temporary file is from a dead writer. Throws LaneError `disk`.
   */
  writeDurably(path: string, content: string): Promise<void>;
}

export function makeFiles(sync: SyncFile): Files {
  const syncFolder = async (path: string): Promise<void> => {
    const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      await sync(folder, path);
    } finally {
      await folder.close();
    }
  };
  const renameDurably = (from: string, to: string) =>
    onDisk(`cannot rename ${from}`, async () => {
      await rename(from, to);
      // Together: a file system that keeps a journal then writes it once.
      await Promise.all([...new Set([to, from].map(dirname))].map(syncFolder));
    });
  const writeDurably = (path: string, content: string) =>
    onDisk(`cannot write ${path}`, async () => {
      const temporary = `${path}.tmp`;
      await rm(temporary, { force: true });
      const file = await open(temporary, 'wx', 0o600);
      try {
        await file.writeFile(content);
        await sync(file, path);
      } finally {
        await file.close();
      }
      await rename(temporary, path);
      await syncFolder(dirname(path));
    });
  return { sync, syncFolder, renameDurably, writeDurably };
}

/** The system's own. */
export const files: Files = makeFiles((file) => file.sync());
export const { syncFolder, renameDurably, writeDurably } = files;

/** The text of a file, or null if there is none. */
export async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
