/**
 * Kernel locks (flock). Node has no flock: the file is opened here and the helper `flock` from util-linux locks that
 * descriptor; the helper exits, the lock stays on the open file description, and the kernel frees it on any death of
 * this process.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { LaneError } from '../errors.ts';
import { errorCode, onDisk } from './files.ts';
import { runProgram } from './program.ts';
import { TOOL_PATH } from './tools.ts';

const BUSY = 75;

/** Node closes a file handle that nobody refers to; a lock must last until it is released or the process dies. */
const held = new Set<FileHandle>();

/** A held lock. Only `tryLock` and `waitLock` make one; the private field keeps look-alikes from compiling. */
export class Lock {
  #path: string;
  #handle: FileHandle | null;

  constructor(path: string, handle: FileHandle) {
    this.#path = path;
    this.#handle = handle;
    held.add(handle);
  }

  get path(): string {
    return this.#path;
  }

  /** The lock belongs to the open file: when its folder is renamed, the lock goes with it. */
  movedTo(path: string): void {
    this.#path = path;
  }

  get held(): boolean {
    return this.#handle !== null;
  }

  /** Frees the lock. A second call does nothing. */
  async release(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    if (!handle) return;
    held.delete(handle);
    await handle.close();
  }
}

/** Takes the lock, or answers null if somebody holds it or the file was replaced meanwhile. */
export async function tryLock(path: string): Promise<Lock | null> {
  const handle = await lockedHandle(path, ['-n']);
  return handle && new Lock(path, handle);
}

/** As `tryLock`, but makes no file: for looking at what others made. */
export async function lockIfThere(path: string): Promise<Lock | 'busy' | 'missing'> {
  try {
    const handle = await lockedHandle(path, ['-n'], undefined, constants.O_RDONLY);
    return handle ? new Lock(path, handle) : 'busy';
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 'missing';
    throw error;
  }
}

/** Waits for the lock. Throws LaneError `copy_failed` if it is not free within `waitMs`, or the signal's reason. */
export async function waitLock(path: string, waitMs: number, signal?: AbortSignal): Promise<Lock> {
  const endMs = performance.now() + waitMs;
  for (;;) {
    const leftMs = endMs - performance.now();
    if (leftMs <= 0) throw new LaneError('copy_failed', `${path} stayed locked for ${waitMs} ms`);
    const handle = await lockedHandle(path, ['-w', (leftMs / 1000).toFixed(3)], signal);
    if (handle) return new Lock(path, handle);
  }
}

/**
 * A lock meant to be handed to an agent's process tree as an inherited descriptor: held for as long as any process
 * has it. Opened for reading only. The caller passes `fd` on and then closes its own handle.
 */
export async function lockForAgent(path: string): Promise<FileHandle | null> {
  return await lockedHandle(path, ['-n']);
}

async function lockedHandle(
  path: string,
  how: string[],
  signal?: AbortSignal,
  flags = constants.O_RDONLY | constants.O_CREAT,
): Promise<FileHandle | null> {
  const handle = await onDisk(`cannot open ${path}`, () => open(path, flags, 0o600));
  try {
    const won = await flock(handle, how, path, signal);
    if (won && (await isStill(path, handle))) return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return null;
}

async function flock(
  handle: FileHandle,
  how: string[],
  path: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const helper = await runProgram({
    file: 'flock',
    args: [...how, '-E', String(BUSY), '-x', '3'],
    env: { PATH: TOOL_PATH, LC_ALL: 'C' },
    cwd: '/',
    thirdFd: handle.fd,
    ...(signal ? { signal } : {}),
  });
  if (helper.code === 0) return true;
  if (helper.code === BUSY) return false;
  const cause = new Error(helper.stderr.toString());
  throw new LaneError('copy_failed', `${path} cannot be locked; is flock from util-linux installed?`, {
    cause,
  });
}

async function isStill(path: string, handle: FileHandle): Promise<boolean> {
  const ours = await handle.stat({ bigint: true });
  const there = await stat(path, { bigint: true }).catch(() => null);
  return there !== null && there.ino === ours.ino && there.dev === ours.dev;
}
