/** The kernel's lock on an open file, taken by flock(1): freed with the last process that has the file open. */
import { spawnSync } from 'node:child_process';
import { LaneError } from '../../errors.ts';

/**
 * Waits for the lock, for at most `withinS` seconds.
 * @throws LaneError `store_unavailable` with `busy`, or where there is no flock.
 */
export function lockFile(descriptor: number, withinS: number, busy: string): void {
  const { status, error } = spawnSync('flock', ['-w', String(withinS), '-x', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
  });
  if (status === 0) return;
  const why =
    error === undefined
      ? busy
      : 'flock (util-linux) is not on PATH; install it, or give the address of a Redis';
  throw new LaneError('store_unavailable', why, { cause: error });
}
