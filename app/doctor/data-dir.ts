/** A look at the data directory: private, on a file system whose locks are the kernel's, with room, and writable. */
import { randomUUID } from 'node:crypto';
import { access, constants, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileSystemName, tryLock, writeDurably } from '../../lanes/index.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

const check = 'data directory';
const leastBytes = 100 * 1024 ** 2;
const comfortableBytes = 1024 ** 3;

/** Looks, and tries to write and lock a file, which is gone again. Nothing is made where there is no directory. */
export async function lookAtDataDir(dataDir: string): Promise<Finding[]> {
  const there = await stat(dataDir).catch(() => null);
  if (there === null) return [await judgeMissing(dataDir)];
  if (!there.isDirectory())
    return [fail(check, `${dataDir} is no directory`, 'Set LANES_DATA_DIR to another path.')];
  const { type, bavail, bsize } = await statfs(dataDir);
  return [
    judgeMode(dataDir, there.mode, there.uid, process.geteuid?.() ?? there.uid),
    judgeFileSystem(type),
    judgeRoom(bavail * bsize),
    await tryWriting(dataDir),
  ];
}

async function judgeMissing(dataDir: string): Promise<Finding> {
  let parent = dirname(dataDir);
  while ((await stat(parent).catch(() => null)) === null && parent !== '/') parent = dirname(parent);
  const evidence = `${dataDir} is not there`;
  const mayMake = await access(parent, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (mayMake)
    return warn(check, evidence, '`lanekeeper start` makes it; or set LANES_DATA_DIR to the right one.');
  return fail(check, evidence, `Make it, or allow this user to write ${parent}.`);
}

/** Modes are POSIX permission bits; `uid` is the directory's owner. */
export function judgeMode(dataDir: string, mode: number, uid: number, ownUid: number): Finding {
  if (uid !== ownUid)
    return fail(check, `${dataDir} belongs to user ${uid}`, `Run: chown -R ${ownUid} ${dataDir}`);
  if ((mode & 0o077) === 0) return ok(check, `${dataDir} is private`);
  const seen = `${dataDir} is open to other users (mode ${(mode & 0o777).toString(8)})`;
  return fail(check, seen, `Run: chmod 700 ${dataDir}`);
}

/** `type` is the number of statfs(2). */
export function judgeFileSystem(type: number): Finding {
  const name = fileSystemName(type);
  if (name !== null) return ok('file system', name);
  const better = 'Put it on ext4, xfs, btrfs, tmpfs or overlay: elsewhere a sweep only reports.';
  return fail('file system', `the data directory is on an unknown kind (0x${type.toString(16)})`, better);
}

/** Free space in bytes. */
export function judgeRoom(bytes: number): Finding {
  const evidence = `${(bytes / 1024 ** 3).toFixed(1)} GB are free`;
  if (bytes < leastBytes) return fail('disk', evidence, 'Free at least 1 GB: copies and patches need room.');
  if (bytes < comfortableBytes)
    return warn('disk', evidence, 'Free at least 1 GB: copies and patches need room.');
  return ok('disk', evidence);
}

async function tryWriting(dataDir: string): Promise<Finding> {
  const file = join(dataDir, `.doctor-${randomUUID()}`);
  try {
    await writeDurably(file, 'x');
    const lock = await tryLock(file);
    await lock?.release();
    if (lock) return ok('writing', 'a file was written, fsynced and locked');
    return fail(
      'writing',
      'a new file could not be locked',
      'Put the data directory on a local file system.',
    );
  } catch (error) {
    return fail('writing', String(error), 'Mend or free the disk, and let this user write there.');
  } finally {
    await rm(file, { force: true }).catch(() => {});
  }
}
