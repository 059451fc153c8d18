/** Files too big for a patch (git holds each whole in memory): left out of it, and kept beside it. */
import { constants } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BigBlob } from '../../records/copies.ts';
import { renameDurably } from '../files.ts';
import { blobPath } from '../outbox.ts';
import type { Workplace } from '../workplace.ts';
import { type CaptureGit, nulInput, nulList, readablePath } from './capture-git.ts';

/** Measured: a file of 3 GB runs out of memory in `diff`. */
const MAX_PATCH_FILE_BYTES = 50 * 1024 * 1024;
const NONE = /^0+$/;

interface Change {
  path: string;
  oldMode: string;
  oldObject: string;
  newMode: string;
  newObject: string;
}

export interface BigChange extends Change {
  /** Size of the new file in bytes; 0 where it was deleted. */
  bytes: number;
}

export interface SplitTree {
  /** The tree that the patch leads to: big changes are as in the base. */
  tree: string;
  big: BigChange[];
  /** How many paths the patch changes. */
  files: number;
}

export async function leaveOutBig(git: CaptureGit, tree: string): Promise<SplitTree> {
  const changes = await changesTo(git, tree);
  const sizes = await sizesOf(git, changes);
  const isBig = (object: string) => (sizes.get(object) ?? 0) > MAX_PATCH_FILE_BYTES;
  const big = changes
    .filter((change) => isBig(change.oldObject) || isBig(change.newObject))
    .map((change) => ({ ...change, bytes: sizes.get(change.newObject) ?? 0 }));
  const files = changes.length - big.length;
  if (big.length === 0) return { tree, big, files };
  // Mode 0 removes an entry, so this one form both restores and removes.
  const lines = big.map(
    (change) => `${change.oldMode.replace(NONE, '0')} ${change.oldObject}\t${change.path}`,
  );
  await git.run(['update-index', '-z', '--index-info'], { input: nulInput(lines) });
  return { tree: await git.text(['write-tree']), big, files };
}

/** Writes the new content of big files to the outbox, durably. */
export async function keepBlobs(place: Workplace, git: CaptureGit, big: BigChange[]): Promise<BigBlob[]> {
  const kept: BigBlob[] = [];
  for (const { path, newMode, newObject, bytes } of big) {
    if (NONE.test(newObject)) continue;
    await keepBlob(git, newObject, join(place.outboxDir, 'tmp', `${git.copy.id}.${newObject}`));
    await renameDurably(
      join(place.outboxDir, 'tmp', `${git.copy.id}.${newObject}`),
      blobPath(place, git.copy.id, newObject),
    );
    kept.push({ path: readablePath(path), mode: newMode, object: newObject, bytes });
  }
  return kept;
}

async function keepBlob(git: CaptureGit, object: string, temporary: string): Promise<void> {
  await rm(temporary, { force: true });
  const file = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    await git.run(['cat-file', 'blob', object], { stdoutFd: file.fd });
    await file.sync();
  } finally {
    await file.close();
  }
}

async function changesTo(git: CaptureGit, tree: string): Promise<Change[]> {
  const { stdout } = await git.run([
    'diff-tree',
    '-r',
    '-z',
    '--raw',
    '--no-renames',
    git.copy.record.base,
    tree,
  ]);
  const parts = nulList(stdout);
  const changes: Change[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [oldMode = '', newMode = '', oldObject = '', newObject = ''] = parts[at]?.slice(1).split(' ') ?? [];
    changes.push({ path: parts[at + 1] ?? '', oldMode, oldObject, newMode, newObject });
  }
  return changes;
}

/** The size of every object that is a file of this repository; a submodule's commit is none. */
async function sizesOf(git: CaptureGit, changes: Change[]): Promise<Map<string, number>> {
  const objects = new Set(changes.flatMap((change) => [change.oldObject, change.newObject]));
  const input = [...objects].filter((object) => !NONE.test(object)).join('\n');
  const { stdout } = await git.run(['cat-file', '--batch-check=%(objectname) %(objectsize)'], {
    input: `${input}\n`,
  });
  const sizes = new Map<string, number>();
  for (const line of stdout.toString('latin1').split('\n')) {
    const [object = '', size = ''] = line.split(' ');
    if (/^\d+$/.test(size)) sizes.set(object, Number(size));
  }
  return sizes;
}
