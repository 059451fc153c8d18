/**
 * Reads an index without starting git. Format: gitformat-index(5), version 2 or 3, SHA-1, which is
 * what our own `read-tree` writes, whatever is configured elsewhere.
 */
import { readFile } from 'node:fs/promises';
import { LaneError } from '../../errors.ts';

const HEADER_BYTES = 12;
const FIXED_BYTES = 62;
const EXTENDED = 0x4000;
const GITLINK_MODE = 0o160000;

export interface IndexEntry {
  readonly path: string;
  readonly mode: number;
  readonly object: string;
  /** As `stat` gave them when the file was written; sizes and inode numbers are cut to 32 bits. */
  readonly ctimeNs: bigint;
  readonly mtimeNs: bigint;
  readonly ino: number;
  readonly bytes: number;
}

export interface IndexFile {
  /** How many entries it has. */
  readonly count: number;
  /** Submodules: path to commit. */
  readonly gitlinks: ReadonlyMap<string, string>;
  /** In the order of their paths. Each is read when it is asked for: most captures need none. */
  entries(): Generator<IndexEntry>;
}

/** @throws LaneError `capture_failed` where the file is no such index. */
export async function readIndex(file: string): Promise<IndexFile> {
  const data = await readFile(file);
  const [version, count] = [data.readUInt32BE(4), data.readUInt32BE(8)];
  if (data.toString('latin1', 0, 4) !== 'DIRC' || (version !== 2 && version !== 3)) {
    throw new LaneError('capture_failed', `${file} is not an index that can be read`);
  }
  const gitlinks = new Map<string, string>();
  for (const { at, end } of places(data, count)) {
    if (data.readUInt32BE(at + 24) !== GITLINK_MODE) continue;
    const { path, object } = entryAt(data, at, end);
    gitlinks.set(path, object);
  }
  function* entries() {
    for (const { at, end } of places(data, count)) yield entryAt(data, at, end);
  }
  return { count, gitlinks, entries };
}

/** Where each entry begins and its name ends. */
function* places(data: Buffer, count: number): Generator<{ at: number; end: number }> {
  let at = HEADER_BYTES;
  for (let left = count; left > 0; left -= 1) {
    const end = data.indexOf(0, nameStart(data, at));
    if (end < 0) throw new LaneError('capture_failed', 'an index is cut short');
    yield { at, end };
    // Each entry is padded with one to eight zero bytes to a multiple of eight.
    at += (end - at + 8) & ~7;
  }
}

function nameStart(data: Buffer, at: number): number {
  return at + FIXED_BYTES + ((data.readUInt16BE(at + 60) & EXTENDED) === 0 ? 0 : 2);
}

function entryAt(data: Buffer, at: number, end: number): IndexEntry {
  const field = (offset: number) => data.readUInt32BE(at + offset);
  const timeNs = (offset: number) => BigInt(field(offset)) * 1_000_000_000n + BigInt(field(offset + 4));
  return {
    path: data.toString('latin1', nameStart(data, at), end),
    mode: field(24),
    object: data.toString('hex', at + 40, at + 60),
    ctimeNs: timeNs(0),
    mtimeNs: timeNs(8),
    ino: field(20),
    bytes: field(36),
  };
}
