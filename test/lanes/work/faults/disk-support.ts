/** Disks that are full, read-only or broken, for tests: small real file systems where we may mount one. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { makeLane } from '../run-support.ts';
import { temporaryFolder } from '../support.ts';

/** Only root may mount. What is left out for that is said on stderr. */
export const mayMount = process.geteuid?.() === 0;
if (!mayMount) process.stderr.write('tests of full and read-only disks are left out: only root may mount\n');

export interface SmallDisk {
  readonly folder: string;
  /** Takes everything that is left, to the last byte. */
  fill(): void;
  /** Makes room again. */
  empty(): void;
}

export function smallDisk(): SmallDisk {
  const folder = mountPoint();
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m,mode=700', 'none', folder]);
  const filler = (at: number) => join(folder, `filler-${at}`);
  let files = 0;
  const fill = () => {
    for (let bytes = 4 * 1024 * 1024; bytes >= 1; ) {
      try {
        writeFileSync(filler(files++), Buffer.alloc(bytes), { flag: 'wx' });
      } catch {
        bytes = Math.floor(bytes / 2);
      }
    }
  };
  const empty = () => {
    while (files > 0) rmSync(filler(--files), { force: true });
  };
  return { folder, fill, empty };
}

export interface LockableDisk {
  readonly folder: string;
  setWritable(writable: boolean): void;
}

/** A folder that can be made read-only, as a kernel does with a file system that it no longer trusts. */
export function lockableDisk(): LockableDisk {
  const folder = mountPoint();
  execFileSync('mount', ['--bind', folder, folder]);
  const setWritable = (writable: boolean) => {
    execFileSync('mount', ['-o', `remount,bind,${writable ? 'rw' : 'ro'}`, folder]);
  };
  return { folder, setWritable };
}

const mounted: string[] = [];

// Registered after the one that removes the temporary folders, and so run before it.
afterEach(() => {
  for (const folder of mounted.splice(0)) execFileSync('umount', ['--lazy', folder]);
});

function mountPoint(): string {
  const folder = join(temporaryFolder(), 'disk');
  mkdirSync(folder);
  mounted.push(folder);
  return folder;
}

/** A lane whose agent adds a line to work.txt and is done. */
export function addsLine(line: string) {
  const result = JSON.stringify({ outcome: 'done' });
  const script = `echo ${line} >>work.txt && printf '%s' '${result}' >"$LANES_RESULT_FILE"`;
  return makeLane({
    agent: { kind: 'command', run: ['sh', '-c', script] },
    writes: true,
    containment: 'none',
  });
}
