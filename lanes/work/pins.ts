/**
 * Pins: references in a mirror that keep the bases of copies alive, one for each copy. Written and removed as files, as
 * gitrepository-layout(5) has them: each start of git costs a run more than the rest of the step.
 */
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { onDisk, readIfThere } from './files.ts';
import { git } from './git.ts';
import { waitLock } from './lock.ts';
import { mirrorPath } from './mirror.ts';
import type { Workplace } from './workplace.ts';

/** Longest wait for another worker that takes a pin out of the same mirror. */
const LOCK_WAIT_MS = 60_000;

function pinName(id: string): string {
  return `refs/lanekeeper/${id}`;
}

/** Keeps a base alive while a copy needs it. Durable when it resolves. Throws LaneError `disk`. */
export async function pin(place: Workplace, repositoryId: number, id: string, base: string): Promise<void> {
  const path = join(mirrorPath(place, repositoryId), pinName(id));
  const folder = dirname(path);
  await onDisk(`cannot pin ${base}`, async () => {
    const made = await mkdir(folder, { recursive: true, mode: 0o700 });
    if (made !== undefined) await place.files.syncFolder(dirname(folder));
    // Git's name for a reference that is being written: nobody takes it for one, and what a dead owner left is replaced.
    const file = await open(`${path}.lock`, 'w', 0o600);
    try {
      await file.writeFile(`${base}\n`);
      await place.files.sync(file, path);
    } finally {
      await file.close();
    }
    await rename(`${path}.lock`, path);
    await place.files.syncFolder(folder);
  });
}

/** Lets go of a base; a pin that is not there is fine. Throws LaneError `disk` or `git_failed`. */
export async function unpin(place: Workplace, repositoryId: number, id: string): Promise<void> {
  const mirror = mirrorPath(place, repositoryId);
  const path = join(mirror, pinName(id));
  await onDisk(`cannot unpin ${id}`, async () => {
    for (const file of [`${path}.lock`, path]) await rm(file, { force: true });
  });
  const packed = await readIfThere(join(mirror, 'packed-refs'));
  if (packed?.includes(pinName(id))) await unpack(mirror, id);
}

/** A clean-up by hand (`git gc`) moves references into one file, which is git's to write. */
async function unpack(mirror: string, id: string): Promise<void> {
  // One at a time, so that a lock file of git that is there can only be from a dead one.
  const lock = await waitLock(`${mirror}.pins.lock`, LOCK_WAIT_MS);
  try {
    await rm(join(mirror, 'packed-refs.lock'), { force: true });
    await git({ args: ['update-ref', '-d', pinName(id)], cwd: mirror, env: { GIT_DIR: mirror } });
  } finally {
    await lock.release();
  }
}
