/** What the benches of copies share: a data folder, a repository of small files and its mirror. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseNamespace } from '../../lanes/namespaces.ts';
import { type Copy, createCopy } from '../../lanes/work/copy.ts';
import { mirrorPath, syncMirror } from '../../lanes/work/mirror.ts';
import { unpin } from '../../lanes/work/pins.ts';
import { openWorkplace, type Workplace } from '../../lanes/work/workplace.ts';

const REPOSITORY = 7;
const FILES_A_FOLDER = 100;
const forever = new AbortController().signal;

export interface BenchPlace {
  readonly place: Workplace;
  readonly mirror: string;
  /** A folder beside the data, for the peer. */
  readonly peerDir: string;
  create(): Promise<Copy>;
  /** Takes a copy away, outside of any measurement. */
  drop(copy: Copy): Promise<void>;
  close(): Promise<void>;
}

export function fileName(n: number): string {
  return join(`folder-${Math.floor(n / FILES_A_FOLDER)}`, `file-${n}.txt`);
}

/** A remote with `count` files of about a kilobyte, fetched into the mirror. */
export async function openBenchPlace(count: number): Promise<BenchPlace> {
  const root = await mkdtemp(join(tmpdir(), 'lanes-bench-'));
  const [remote, peerDir] = [join(root, 'remote'), join(root, 'peer')];
  await mkdir(peerDir);
  for (let n = 0; n < count; n += 1) {
    if (n % FILES_A_FOLDER === 0) await mkdir(join(remote, fileName(n), '..'), { recursive: true });
    await writeFile(join(remote, fileName(n)), `${n}\n`.repeat(Math.ceil(1_000 / `${n}\n`.length)));
  }
  plainGit(remote, ['init', '-q', '-b', 'trunk', '.']);
  plainGit(remote, ['add', '-A']);
  plainGit(remote, ['-c', 'user.name=p', '-c', 'user.email=p@x', 'commit', '-q', '-m', 'base']);
  const place = await openWorkplace({
    ...{ dataDir: join(root, 'data'), instance: 'bench', now: Date.now, id: randomUUID },
  });
  const synced = await syncMirror(place, { repositoryId: REPOSITORY, cloneUrl: `file://${remote}` }, forever);
  if (synced.kind !== 'synced') throw new Error(synced.kind);
  const { base, branch } = synced;
  const whose = { task: 'task0000001', namespace: parseNamespace('lane:bench'), run: 1, fence: 1 };
  return {
    ...{ place, peerDir, mirror: mirrorPath(place, REPOSITORY) },
    create: () => createCopy(place, { ...whose, repositoryId: REPOSITORY, base, branch }, forever),
    async drop(copy) {
      await copy.lock.release();
      await unpin(place, REPOSITORY, copy.id);
      for (const path of [copy.paths.work, copy.paths.ctl]) await rm(path, { recursive: true });
    },
    close: () => rm(root, { recursive: true, force: true }),
  };
}

/** Git with nobody's configuration, as the peer runs it: what it says, unless that goes into a file. */
export function plainGit(
  cwd: string,
  args: string[],
  env: Readonly<Record<string, string>> = {},
  stdoutFd?: number,
): string {
  const said = execFileSync('git', args, {
    cwd,
    env: {
      ...{ PATH: '/usr/local/bin:/usr/bin:/bin', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
      ...env,
    },
    stdio: ['ignore', stdoutFd ?? 'pipe', 'pipe'],
  });
  return said?.toString('utf8').trim() ?? '';
}

/** How long it takes, in milliseconds. */
export async function timed(work: () => Promise<unknown> | unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
