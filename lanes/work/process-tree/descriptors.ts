/**
 * Descriptors that we inherited and would hand on. Node opens everything close-on-exec and marks the first ones that
 * it was started with, but not a stray one behind a gap: a pipe of whoever started the worker was seen to reach agents.
 */
import { readdir, readFile } from 'node:fs/promises';

const O_CLOEXEC = 0o2000000;
const LAST_STANDARD = 2;

/** Descriptors of this process, beyond the standard streams, that a child would get. */
export async function strayDescriptors(): Promise<number[]> {
  const strays: number[] = [];
  for (const name of await readdir('/proc/self/fdinfo')) {
    if (Number(name) <= LAST_STANDARD) continue;
    const about = await readFile(`/proc/self/fdinfo/${name}`, 'latin1').catch(() => '');
    const flags = /^flags:\s*(\d+)$/m.exec(about)?.[1];
    if (flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0) strays.push(Number(name));
  }
  return strays;
}
