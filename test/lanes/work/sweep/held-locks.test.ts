import { mkdirSync, readlinkSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tryLock } from '../../../../lanes/work/lock.ts';
import { readHeldLocks } from '../../../../lanes/work/sweep/held-locks.ts';
import { temporaryFolder } from '../support.ts';

/** The number of the first pid namespace is fixed in the kernel; in others, locks of helpers that ended are not listed. */
const isListed = readlinkSync('/proc/self/ns/pid') === 'pid:[4026531836]';

it.runIf(isListed)('a held lock is listed, and a freed one is not', async () => {
  const path = join(temporaryFolder(), 'owner.lock');
  const lock = await tryLock(path);
  expect(await (await readHeldLocks())(path)).toBe(true);
  await lock?.release();
  expect(await (await readHeldLocks())(path)).toBe(false);
});

it.runIf(isListed)('a held lock is still listed after its folder was renamed', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, '.new-a'));
  const lock = await tryLock(join(folder, '.new-a', 'owner.lock'));
  renameSync(join(folder, '.new-a'), join(folder, 'a'));
  expect(await (await readHeldLocks())(join(folder, 'a', 'owner.lock'))).toBe(true);
  await lock?.release();
});

it('a free, a missing, and another file with a held one beside it are not listed', async () => {
  const folder = temporaryFolder();
  const lock = await tryLock(join(folder, 'held'));
  writeFileSync(join(folder, 'free'), '');
  const held = await readHeldLocks();
  expect(await held(join(folder, 'free'))).toBe(false);
  expect(await held(join(folder, 'missing'))).toBe(false);
  await lock?.release();
});

it('a lock on a file that another one has replaced does not make that one held', async () => {
  const path = join(temporaryFolder(), 'owner.lock');
  const lock = await tryLock(path);
  writeFileSync(`${path}.new`, '');
  renameSync(`${path}.new`, path);
  expect(await (await readHeldLocks())(path)).toBe(false);
  await lock?.release();
});
