/**
 * Which files the kernel lists as locked (proc(5), /proc/locks): read once for a whole sweep, where trying each lock
 * costs a helper process. Only ever a reason to leave a copy alone. What is not listed is not known to be free (a lock
 * taken in another pid namespace is not shown, and some file systems show another device): its lock is then tried.
 */
import { readFile, stat } from 'node:fs/promises';

/** Whether a file was listed as locked. */
export type HeldLocks = (path: string) => Promise<boolean>;

/** `1: FLOCK  ADVISORY  WRITE 15355 fe:00:2188353 0 EOF`. Lines with `->` are of those who wait for one of these. */
const HELD = /^\d+: FLOCK +\S+ +\S+ +-?\d+ ([0-9a-f]+:[0-9a-f]+:\d+) /gm;

/** As it is now. Where the kernel has no such list, no file is in it. */
export async function readHeldLocks(): Promise<HeldLocks> {
  const text = await readFile('/proc/locks', 'latin1').catch(() => '');
  const held = new Set([...text.matchAll(HELD)].map(([, file]) => file));
  return async (path) => {
    const there = held.size === 0 ? null : await stat(path, { bigint: true }).catch(() => null);
    return there !== null && held.has(nameInList(there.dev, there.ino));
  };
}

/** The two halves of a device number lie in four pieces (makedev(3)). */
function nameInList(dev: bigint, ino: bigint): string {
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn);
  const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn);
  const hex = (part: bigint) => part.toString(16).padStart(2, '0');
  return `${hex(major)}:${hex(minor)}:${ino}`;
}
