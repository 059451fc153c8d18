/** Whether a receipt's word holds: what it names lies in the outbox, and nothing of the copy is outside of it. */
import { lstat, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Missing, Receipt } from '../records/copies.ts';
import { archivePath, blobPath, outboxPaths } from './outbox.ts';
import type { Workplace } from './workplace.ts';

/** Why the copy, whose files lie in `checkout`, still holds the only instance of something, or null. */
export async function unsavedWork(
  place: Workplace,
  receipt: Receipt,
  checkout: string,
): Promise<string | null> {
  const { copy, kind } = receipt;
  const files = [
    { what: 'its patch', path: outboxPaths(place, copy, kind).patch, bytes: receipt.bytes },
    ...receipt.blobs.map(({ path, object, bytes }) => ({
      ...{ what: path, path: blobPath(place, copy, object), bytes },
    })),
    ...receipt.archives.map(({ path, sha256, bytes }) => ({
      ...{ what: `the archive of ${path}`, path: archivePath(place, copy, kind, sha256), bytes },
    })),
  ];
  for (const { what, path, bytes } of files) {
    const there = await stat(path).catch(() => null);
    if (there?.size !== bytes) return `${what} is not in the outbox`;
  }
  for (const missing of receipt.missing) {
    if (await isUnsaved(receipt, missing, checkout)) return `${missing.path} is in no patch (${missing.why})`;
  }
  return null;
}

/** A pipe or a device holds nothing; a checkout that its agent removed is gone already. */
async function isUnsaved(receipt: Receipt, { path, why }: Missing, checkout: string): Promise<boolean> {
  if (why === 'special_file' || why === 'copy_removed') return false;
  if (why === 'embedded_repository') return !receipt.archives.some((archive) => archive.path === path);
  if (why !== 'too_big') return true;
  if (receipt.blobs.some((blob) => blob.path === path)) return false;
  // A big file that was removed has nothing to save. Of a name that is not UTF-8 nobody can tell here.
  return path.includes('\u{fffd}') || (await lstat(join(checkout, path)).catch(() => null)) !== null;
}
