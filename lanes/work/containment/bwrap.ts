/** The strongest level: bubblewrap, with its own user, pid, ipc and host name namespaces, and no way to make more. */
import { host } from './host.ts';
import { type Mount, planMounts } from './plan.ts';
import type { ContainedCommand, ContainRequest } from './request.ts';

/** Memory that an agent may use as files. Its TMPDIR is on the disk. */
export const PRIVATE_BYTES = 512 * 1024 * 1024;

const NAMESPACES = ['user', 'pid', 'ipc', 'uts'].map((name) => `--unshare-${name}`);

/**
 * `bwrap` is its absolute path. Nested user namespaces are off (bubblewrap 0.8 and later), so that an agent cannot
 * get capabilities in one of its own.
 */
export async function containWithBwrap(bwrap: string, request: ContainRequest): Promise<ContainedCommand> {
  const mounts = await planMounts(request, host);
  const settings = await host.kernelSettings();
  const args = [
    ...NAMESPACES,
    ...['--disable-userns', '--die-with-parent', '--cap-drop', 'ALL'],
    ...['--ro-bind', '/', '/', '--dev', '/dev', ...privateFolder('/dev/shm'), '--remount-ro', '/dev'],
    // Bubblewrap leaves these writable for root, who could then name the host's next core dump handler.
    ...['--proc', '/proc', ...settings.flatMap((path) => ['--ro-bind', path, path])],
    ...mounts.flatMap(mountArgs),
    ...mounts.flatMap((mount) => (isHiddenFolder(mount) ? ['--remount-ro', mount.path] : [])),
    ...['--chdir', request.cwd, '--', ...request.argv],
  ];
  return { file: bwrap, args, env: { ...request.env }, cwd: '/' };
}

function mountArgs(mount: Mount): string[] {
  const { path } = mount;
  if (mount.kind === 'private') return privateFolder(path);
  if (mount.kind === 'read') return ['--ro-bind', path, path];
  if (mount.kind === 'write') return ['--bind', path, path];
  // bubblewrap binds without devices, so that opening this fails.
  return isHiddenFolder(mount) ? ['--perms', '0555', '--tmpfs', path] : ['--ro-bind', '/dev/null', path];
}

function privateFolder(path: string): string[] {
  return ['--size', String(PRIVATE_BYTES), '--tmpfs', path];
}

function isHiddenFolder(mount: Mount): boolean {
  return mount.kind === 'hide' && mount.what === 'folder';
}
