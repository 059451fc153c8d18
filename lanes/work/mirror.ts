/**
 * The bare mirror of a repository, one per repository id. Copies borrow its objects, so a base in use is pinned and
 * git's own clean-up is off. Only the worker runs git in here; no agent ever writes to it.
 */
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { onDisk, readIfThere } from './files.ts';
import { git, gitText } from './git.ts';
import { waitLock } from './lock.ts';
import type { Workplace } from './workplace.ts';

/** Longest wait for another worker that fetches the same repository. */
const LOCK_WAIT_MS = 10 * 60_000;

/**
 * Copies borrow what is fetched, and after a power cut their work can be saved only with it: all of it is on the disk
 * before the reference names it. By itself git leaves small fetches to the system. Older than 2.36 it knows no better.
 */
const DURABLE = ['-c', 'core.fsync=all', '-c', 'core.fsyncMethod=batch'];

export interface MirrorSource {
  repositoryId: number;
  /** `http(s)://` or `file://`, without credentials. */
  cloneUrl: string;
  /** A token that may read this repository. It reaches git only through its environment. */
  token?: string;
  /** Proxy and certificate variables that git needs here, from the configuration. */
  networkEnv?: Readonly<Record<string, string>>;
}

export type MirrorOutcome = { kind: 'synced'; base: string; branch: string } | { kind: 'empty_repository' };

export function mirrorPath(place: Workplace, repositoryId: number): string {
  return join(place.mirrorsDir, `${repositoryId}.git`);
}

/**
 * Brings the mirror to the default branch's head. Safe for two workers at once: a kernel lock orders them.
 * Throws LaneError `git_failed` or `disk`, or the signal's reason.
 */
export async function syncMirror(
  place: Workplace,
  source: MirrorSource,
  signal: AbortSignal,
): Promise<MirrorOutcome> {
  const mirror = mirrorPath(place, source.repositoryId);
  const lock = await waitLock(`${mirror}.lock`, LOCK_WAIT_MS, signal);
  try {
    await makeMirror(mirror);
    return await fetchHead(mirror, source, signal);
  } finally {
    await lock.release();
  }
}

async function makeMirror(mirror: string): Promise<void> {
  if (await stat(mirror).catch(() => null)) return;
  await onDisk(`cannot make ${mirror}`, async () => {
    const fresh = `${mirror}.new`;
    await rm(fresh, { recursive: true, force: true });
    await mkdir(fresh, { mode: 0o700 });
    // Pins are written as files: what git may choose for new repositories one day has none.
    const env = { GIT_DEFAULT_REF_FORMAT: 'files' };
    await git({ args: ['init', '--quiet', '--bare', '--template=', '.'], cwd: fresh, env });
    await git({ args: ['config', 'gc.auto', '0'], cwd: fresh, env: { GIT_DIR: fresh } });
    await rename(fresh, mirror);
  });
}

async function fetchHead(mirror: string, source: MirrorSource, signal: AbortSignal): Promise<MirrorOutcome> {
  const remote = { cwd: mirror, signal, ...remoteAccess(mirror, source) };
  const answer = await gitText({ ...remote, args: ['ls-remote', '--symref', '--', source.cloneUrl, 'HEAD'] });
  const head = parseHead(answer);
  if (!head) return { kind: 'empty_repository' };
  const target = 'refs/lanekeeper-head/default';
  // Mostly nothing has moved since the last run. What this reference names was fetched with all that belongs to it.
  const known = (await readIfThere(join(mirror, target)))?.trim();
  if (known === head.commit) return { kind: 'synced', base: known, branch: head.branch };
  // Only the holder of the mirror's lock writes this reference: a lock file there is from a dead one.
  await rm(join(mirror, `${target}.lock`), { force: true });
  const refspec = `+${head.ref}:${target}`;
  const flags = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules'];
  await git({ ...remote, args: [...DURABLE, 'fetch', ...flags, '--', source.cloneUrl, refspec] });
  const base = await gitText({
    args: ['rev-parse', `${target}^{commit}`],
    cwd: mirror,
    env: { GIT_DIR: mirror },
  });
  return { kind: 'synced', base, branch: head.branch };
}

/** The remote's HEAD from `ls-remote --symref`, or null where it has no commit. */
function parseHead(answer: string): { ref: string; branch: string; commit: string } | null {
  const commit = /^([0-9a-f]{40,64})\tHEAD$/m.exec(answer)?.[1];
  if (commit === undefined) return null;
  const ref = /^ref: (refs\/heads\/\S+)\tHEAD$/m.exec(answer)?.[1];
  const named = ref ? { ref, branch: ref.slice('refs/heads/'.length) } : { ref: 'HEAD', branch: 'main' };
  return { ...named, commit };
}

/**
 * Redirects are not followed: curl would send the Authorization header to whatever host is named there. The header is
 * bound to the origin of the clone address.
 */
function remoteAccess(
  mirror: string,
  source: MirrorSource,
): { env: Record<string, string>; secrets: string[] } {
  const settings: [string, string][] = [
    ['http.followRedirects', 'false'],
    ['credential.helper', ''],
  ];
  const secrets: string[] = [];
  if (source.token !== undefined && /^https?:/.test(source.cloneUrl)) {
    const basic = Buffer.from(`x-access-token:${source.token}`).toString('base64');
    settings.push([`http.${new URL(source.cloneUrl).origin}/.extraHeader`, `Authorization: Basic ${basic}`]);
    secrets.push(source.token, basic);
  }
  const env: Record<string, string> = {
    ...source.networkEnv,
    GIT_DIR: mirror,
    GIT_ALLOW_PROTOCOL: 'http:https:file',
    GIT_CONFIG_COUNT: String(settings.length),
  };
  for (const [index, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = key;
    env[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return { env, secrets };
}
