/** What a written file is known by afterwards. */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';

export interface WrittenFile {
  readonly sha256: string;
  readonly bytes: number;
}

const PIECE_BYTES = 1024 * 1024;

/** Reads the file once, in pieces: memory stays small whatever its size. */
export async function hashFile(path: string): Promise<WrittenFile> {
  const hash = createHash('sha256');
  const bytes = await feed(hash, path);
  return { sha256: hash.digest('hex'), bytes };
}

/**
 * Git's name for the file's content in a repository whose object names are as long as `like`. Here and not by
 * `git hash-object`, which takes about three times as long: its SHA-1 looks for collisions on the way.
 */
export async function hashBlob(path: string, bytes: number, like: string): Promise<string> {
  const hash = createHash(like.length === 64 ? 'sha256' : 'sha1').update(`blob ${bytes}\0`);
  await feed(hash, path);
  return hash.digest('hex');
}

async function feed(hash: Hash, path: string): Promise<number> {
  let bytes = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: PIECE_BYTES })) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return bytes;
}
