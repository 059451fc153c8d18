/** Real parts for the tests of `work/`: a temporary data folder, a real remote, real copies. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach } from 'vitest';
import { parseNamespace } from '../../../lanes/namespaces.ts';
import { type Copy, createCopy } from '../../../lanes/work/copy.ts';
import { syncMirror } from '../../../lanes/work/mirror.ts';
import {
  openWorkplace,
  type Point,
  type Workplace,
  type WorkplaceOptions,
} from '../../../lanes/work/workplace.ts';

const folders: string[] = [];
const copies: Copy[] = [];

afterEach(async () => {
  for (const copy of copies.splice(0)) await copy.lock.release();
  for (const folder of folders.splice(0).filter((path) => existsSync(path))) {
    execFileSync('chmod', ['-R', 'u+rwX', folder]);
    rmSync(folder, { recursive: true, force: true });
  }
});

/** A temporary folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'lanekeeper-work-')));
  folders.push(folder);
  return folder;
}

/** Git as an ordinary person would run it, without this machine's configuration. */
export function sh(cwd: string, ...command: string[]): string {
  const [file = 'true', ...args] = command;
  const who = {
    GIT_AUTHOR_NAME: 'p',
    GIT_AUTHOR_EMAIL: 'p@x',
    GIT_COMMITTER_NAME: 'p',
    GIT_COMMITTER_EMAIL: 'p@x',
  };
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: cwd, GIT_CONFIG_NOSYSTEM: '1', ...who };
  return execFileSync(file, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

export function put(folder: string, path: string, content: string | Buffer, mode = 0o644): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
  chmodSync(join(folder, path), mode);
}

export function makeRemote(files: Record<string, string | Buffer>): string {
  const folder = temporaryFolder();
  sh(folder, 'git', 'init', '-q', '-b', 'trunk', '.');
  for (const [path, content] of Object.entries(files)) put(folder, path, content);
  sh(folder, 'git', 'add', '-A', '-f');
  sh(folder, 'git', 'commit', '-q', '--allow-empty', '-m', 'base');
  return folder;
}

export async function makePlace(
  point?: Point,
  more: Partial<Pick<WorkplaceOptions, 'dataDir' | 'sync'>> = {},
): Promise<Workplace> {
  let clock = 1_000;
  const dataDir = join(temporaryFolder(), 'data');
  const steady = { instance: 'worker-a', now: () => clock++, id: randomUUID };
  return await openWorkplace({ dataDir, ...steady, ...(point ? { point } : {}), ...more });
}

export const forever = new AbortController().signal;

export async function makeCopy(place: Workplace, remote: string, repositoryId = 7): Promise<Copy> {
  const synced = await syncMirror(place, { repositoryId, cloneUrl: `file://${remote}` }, forever);
  if (synced.kind !== 'synced') throw new Error(synced.kind);
  const whose = { task: 'task0000001', namespace: parseNamespace('lane:triage'), run: 1, fence: 1 };
  const { base, branch } = synced;
  const copy = await createCopy(place, { ...whose, repositoryId, base, branch }, forever);
  copies.push(copy);
  return copy;
}
