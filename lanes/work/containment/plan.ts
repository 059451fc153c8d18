/**
 * Which parts of the host a contained command sees: one ordered list of mounts, which each level then makes. The
 * whole host is read-only. Private places (homes, /tmp, /run) are empty. What the command needs out of them comes back
 * read-only, then what must never be seen is hidden, on top of everything. Only the copy and the io folder are writable.
 */
import { basename, dirname, isAbsolute } from 'node:path';
import { LaneError } from '../../errors.ts';
import { credentialPlaces } from './credentials.ts';
import type { Host } from './host.ts';
import type { ContainRequest } from './request.ts';

export type Mount =
  /** An empty folder of its own, writable, gone with the command. */
  | { kind: 'private'; path: string }
  /** The host's own file or folder, to be read. */
  | { kind: 'read'; path: string }
  /** Nothing: an empty folder, or a file that cannot be opened. */
  | { kind: 'hide'; path: string; what: 'folder' | 'file' }
  /** The host's own folder, to be written. */
  | { kind: 'write'; path: string };

const PRIVATE_PLACES = ['/tmp', '/var/tmp', '/run', '/home', '/root', '/mnt', '/media'];
/** Homes that are parts of the system: emptying them would leave nothing to run. */
const SYSTEM_PLACES = /^\/(?:$|(?:usr|bin|sbin|lib\w*|etc|dev|proc|sys|opt|nonexistent)(?:\/|$)|var$)/;

/** Throws LaneError `agent_unavailable` if the command names something that must stay hidden. */
export async function planMounts(request: ContainRequest, host: Host): Promise<Mount[]> {
  const places = await privatePlaces(host);
  const own = [request.copyDir, request.ioDir, ...request.expose];
  const hidden = await realPaths(request.hide, host);
  const wanted = await wantedPaths(request, places, host);
  for (const path of wanted) {
    const inHidden = hidden.some((secret) => isWithin(path, secret));
    if (inHidden && !own.some((folder) => isWithin(path, folder))) {
      throw new LaneError('agent_unavailable', `${path} lies in a hidden place; move the program out of it`);
    }
  }
  const reads = outermost(wanted.filter((path) => !own.some((folder) => isWithin(path, folder))));
  const visible = (path: string) => {
    const inPlace = places.some((place) => isWithin(path, place));
    return !inPlace || reads.some((read) => isWithin(path, read) || isWithin(read, path));
  };
  const secrets = [
    ...hidden,
    ...(await realPaths(credentialPlaces(host.home), host)),
    ...(await socketPaths(host)),
  ];
  const hides: Mount[] = [];
  // A hidden folder with the copy in it is made in any case, so that nothing around the copy can be written.
  const holdsOwn = (path: string) => own.some((folder) => isWithin(folder, path));
  for (const path of outermost(secrets.filter((path) => visible(path) || holdsOwn(path)))) {
    if (own.some((folder) => isWithin(path, folder))) continue;
    hides.push({ kind: 'hide', path, what: (await host.kind(path)) === 'folder' ? 'folder' : 'file' });
  }
  return [
    ...places.map((path): Mount => ({ kind: 'private', path })),
    ...reads.map((path): Mount => ({ kind: 'read', path })),
    ...hides,
    ...request.expose.map((path): Mount => ({ kind: 'read', path })),
    { kind: 'write', path: request.copyDir },
    { kind: 'write', path: request.ioDir },
  ];
}

/** Whether `path` is `folder` or lies in it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

async function privatePlaces(host: Host): Promise<string[]> {
  const found: string[] = [];
  for (const place of [...PRIVATE_PLACES, host.home]) {
    const path = await host.real(place);
    if (path !== null && !SYSTEM_PLACES.test(path) && (await host.kind(path)) === 'folder') found.push(path);
  }
  return outermost(found);
}

/**
 * What the command needs out of private places: its program, absolute paths among its arguments, the tool chains on
 * its PATH, and the resolver's configuration, which often lies in /run.
 */
async function wantedPaths(
  request: ContainRequest,
  places: readonly string[],
  host: Host,
): Promise<string[]> {
  const wanted: string[] = [];
  const want = async (path: string | null, whole: (real: string) => string) => {
    if (path === null || !isAbsolute(path)) return;
    for (const seen of new Set([path, (await host.real(path)) ?? path])) {
      const inPlace = places.find((place) => isWithin(seen, place));
      if (inPlace === undefined || (await host.kind(seen)) === 'none') continue;
      const folder = whole(seen);
      // A file right in a private place comes alone: its folder would bring everything else back.
      wanted.push(isWithin(folder, inPlace) && folder !== inPlace ? folder : seen);
    }
  };
  for (const arg of request.argv) {
    const isFolder = (await host.kind(arg)) === 'folder';
    await want(isAbsolute(arg) ? arg : null, isFolder ? (path) => path : dirname);
  }
  for (const entry of (request.env.PATH ?? '').split(':')) await want(entry, toolChain);
  await want('/etc/resolv.conf', (path) => path);
  return wanted.filter((path) => !places.includes(path));
}

/** `~/.nvm/versions/node/v20/bin` needs its `lib`; `~/.local/bin` must not bring the keyrings of `~/.local/share`. */
function toolChain(path: string): string {
  const parent = dirname(path);
  const isPart = ['bin', 'sbin', 'shims'].includes(basename(path)) && basename(parent) !== '.local';
  return isPart ? parent : path;
}

async function realPaths(paths: readonly string[], host: Host): Promise<string[]> {
  const found = await Promise.all(paths.map((path) => host.real(path)));
  return found.filter((path) => path !== null);
}

async function socketPaths(host: Host): Promise<string[]> {
  return await realPaths(await host.sockets(), host);
}

/** Without doubles and without what lies in another one. */
function outermost(paths: readonly string[]): string[] {
  const sorted = [...new Set(paths)].sort((a, b) => a.length - b.length);
  const kept: string[] = [];
  for (const path of sorted) if (!kept.some((folder) => isWithin(path, folder))) kept.push(path);
  return kept;
}
