/** What the host looks like, as far as it matters for hiding things: read afresh for every command. */
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

export interface Host {
  home: string;
  /** Whether a path is a folder, a file (or anything else that is not a folder), or not there. */
  kind(path: string): Promise<'folder' | 'file' | 'none'>;
  /** The path without symbolic links, or null if it is not there. */
  real(path: string): Promise<string | null>;
  /** Paths of the unix sockets that somebody listens on. Read-only mounts do not keep anybody from connecting. */
  sockets(): Promise<string[]>;
  /** Entries of /proc, other than processes, that their owner may write: as root they would reach the host's kernel. */
  kernelSettings(): Promise<string[]>;
}

export const host: Host = {
  home: homedir(),
  kind: async (path) => {
    const found = await stat(path).catch(() => null);
    if (!found) return 'none';
    return found.isDirectory() ? 'folder' : 'file';
  },
  real: (path) => realpath(path).catch(() => null),
  sockets: async () => {
    const table = await readFile('/proc/net/unix', 'latin1').catch(() => '');
    const paths = table.split('\n').flatMap((line) => /^(?:\S+\s+){7}(\/.*)$/.exec(line)?.[1] ?? []);
    return [...new Set(paths)];
  },
  kernelSettings: async () => {
    const names = (await readdir('/proc')).filter((name) => !/^\d+$/.test(name));
    const found: string[] = [];
    for (const name of names) {
      const path = join('/proc', name);
      const about = await stat(path).catch(() => null);
      if (name === 'self' || name === 'thread-self' || name === 'net' || name === 'mounts' || !about)
        continue;
      if (about.isDirectory() || (about.mode & 0o222) !== 0) found.push(path);
    }
    return found;
  },
};
