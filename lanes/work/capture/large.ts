/** Which of the copy's large files the patch cannot take. Git holds each whole in memory, and a patch has a bound. */
import { lstat } from 'node:fs/promises';
import type { IndexEntry, IndexFile } from './index-file.ts';
import type { NotableFile } from './look.ts';
import { diskPath } from './paths.ts';

/** Measured: a file of 3 GB runs out of memory in `diff`. */
export const MAX_PATCH_FILE_BYTES = 50 * 1024 * 1024;
/** Git applies no patch over 1 GB. Files that do not compress, and their base's, come to that. */
const MAX_PATCH_LARGE_BYTES = 400 * 1024 * 1024;

/** Those that changed and must stay out: each that is too big by itself, and the largest that are too much together. */
export async function tooLarge(
  work: string,
  base: IndexFile,
  large: readonly NotableFile[],
): Promise<NotableFile[]> {
  if (large.length === 0) return [];
  const files = new Map(large.map((file) => [file.path, file]));
  for (const entry of base.entries()) {
    if (files.has(entry.path) && (await isUntouched(work, entry))) files.delete(entry.path);
  }
  const changed = [...files.values()];
  let room = MAX_PATCH_LARGE_BYTES;
  const smallestFirst = changed.sort((a, b) => a.bytes - b.bytes);
  return smallestFirst.filter(({ bytes }) => {
    room -= bytes;
    return bytes > MAX_PATCH_FILE_BYTES || room < 0;
  });
}

/** As git decides it: nobody can set a change time. A file that was only touched is large work for nothing, no more. */
async function isUntouched(work: string, entry: IndexEntry): Promise<boolean> {
  const there = await lstat(diskPath(work, entry.path), { bigint: true }).catch(() => null);
  return (
    there !== null &&
    there.ctimeNs === entry.ctimeNs &&
    there.mtimeNs === entry.mtimeNs &&
    (there.size & 0xffffffffn) === BigInt(entry.bytes) &&
    (there.ino & 0xffffffffn) === BigInt(entry.ino)
  );
}
