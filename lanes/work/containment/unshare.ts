/**
 * The second level, with util-linux only: `unshare` gives the namespaces, a short shell script builds the view of the
 * host that `plan.ts` lists, and the command then runs in a second user namespace, in which it owns no mount.
 */
import { LaneError } from '../../errors.ts';
import { TOOL_PATH } from '../tools.ts';
import { PRIVATE_BYTES } from './bwrap.ts';
import { host } from './host.ts';
import { isWithin, type Mount, planMounts } from './plan.ts';
import type { ContainedCommand, ContainRequest } from './request.ts';

/**
 * Arguments: where to build, the folder to start in, user, group, the command's PATH, then pairs of a mount's kind and
 * path, `--`, the command. Everything is built beside the old root, then becomes the root. Last, every mount that is
 * not meant to be written becomes read-only, whatever came with the host; one that cannot stops it all.
 * The shell stays as process 1: it reaps, and the command keeps the usual meaning of its signals.
 */
const SCRIPT = `set -eu
stage=$1 cwd=$2 uid=$3 gid=$4 command_path=$5
shift 5
echo 1 >/proc/sys/user/max_user_namespaces
mount -t tmpfs -o mode=755 tmpfs "$stage"
new=$stage/new
mkdir "$new"
: >"$stage/nothing"
chmod 0 "$stage/nothing"
mount --rbind / "$new"
keep="
$new/proc
$new/dev/pts
$new/dev/shm
"
writable() { keep="$keep$new$1
"; }
target() { if [ -d "$1" ]; then mkdir -p "$new$1"; elif [ ! -e "$new$1" ]; then mkdir -p "$new\${1%/*}"; : >"$new$1"; fi; }
mount -t tmpfs -o mode=755 tmpfs "$new/dev"
for node in null zero full random urandom tty; do
  : >"$new/dev/$node"
  mount --bind "/dev/$node" "$new/dev/$node"
done
mkdir "$new/dev/pts" "$new/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$new/dev/pts"
mount -t tmpfs -o mode=1777,size=${PRIVATE_BYTES} tmpfs "$new/dev/shm"
ln -s pts/ptmx "$new/dev/ptmx"
ln -s /proc/self/fd "$new/dev/fd"
for n in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/\${n%%:*}" "$new/dev/\${n#*:}"; done
mount -t proc -o nosuid,nodev,noexec proc "$new/proc"
while [ "$1" != -- ]; do
  case $1 in
    private) mount -t tmpfs -o mode=755,size=${PRIVATE_BYTES} tmpfs "$new$2"; writable "$2" ;;
    read) target "$2"; mount --rbind "$2" "$new$2" ;;
    write) target "$2"; mount --bind "$2" "$new$2"; writable "$2" ;;
    hide-folder) mkdir -p "$new$2"; mount -t tmpfs -o mode=555 tmpfs "$new$2" ;;
    hide-file) mount --bind "$stage/nothing" "$new$2" ;;
    setting) mount --bind "$new$2" "$new$2" ;;
  esac
  shift 2
done
shift
mounts=$(cat /proc/self/mountinfo)
while read -r _ _ _ _ point options _; do
  case $point in "$new" | "$new"/*) ;; *) continue ;; esac
  case $point in *\\\\*)
    point=$(printf '%b.' "$point")
    point=\${point%.}
    ;;
  esac
  case $keep in *"
$point
"*) continue ;; esac
  mountpoint -q "$point" || continue # covered by another one: nobody can reach it
  options=$options,nosuid
  case $point in "$new"/dev/*) ;; *) options=$options,nodev ;; esac
  mount -o "remount,bind,ro,\${options#r[ow],}" "$point"
done <<MOUNTS
$mounts
MOUNTS
old=$new/dev/shm/old
mkdir "$old"
cd "$new"
pivot_root . dev/shm/old
umount -l /dev/shm/old
rmdir /dev/shm/old
cd "$cwd"
status=0
unshare --user --keep-caps --map-user="$uid" --map-group="$gid" -- \\
  setpriv --bounding-set=-all --inh-caps=-all --ambient-caps=-all --no-new-privs -- \\
  env PATH="$command_path" "$@" || status=$?
exit $status
`;

export interface UnshareTools {
  setpriv: string;
  unshare: string;
  shell: string;
}

/** Throws LaneError `containment_unavailable` if there is no folder left to build in. */
export async function containWithUnshare(
  tools: UnshareTools,
  request: ContainRequest,
): Promise<ContainedCommand> {
  const mounts = await planMounts(request, host);
  const settings = (await host.kernelSettings()).flatMap((path) => ['setting', path]);
  const [uid, gid] = [process.geteuid?.() ?? 0, process.getegid?.() ?? 0].map(String);
  const namespaces = [
    '--user',
    '--map-root-user',
    '--mount',
    '--pid',
    '--ipc',
    '--uts',
    '--fork',
    '--kill-child',
  ];
  const script = [
    tools.shell,
    '-c',
    SCRIPT,
    'lanekeeper',
    await freeStage(mounts),
    request.cwd,
    `${uid}`,
    `${gid}`,
  ];
  const args = [
    ...['--pdeathsig', 'KILL', '--', tools.unshare, ...namespaces, '--', ...script],
    ...[request.env.PATH ?? TOOL_PATH, ...settings, ...mounts.flatMap(mountArgs), '--', ...request.argv],
  ];
  return { file: tools.setpriv, args, env: { ...request.env, PATH: TOOL_PATH }, cwd: '/' };
}

function mountArgs(mount: Mount): string[] {
  return [mount.kind === 'hide' ? `hide-${mount.what}` : mount.kind, mount.path];
}

/** A folder that nothing is needed from: what lies under it cannot be reached while the view is built. */
async function freeStage(mounts: readonly Mount[]): Promise<string> {
  const sources = mounts.filter(({ kind }) => kind === 'read' || kind === 'write');
  for (const stage of ['/mnt', '/media', '/srv', '/home', '/tmp']) {
    const used = sources.some(({ path }) => isWithin(path, stage));
    if (!used && (await host.kind(stage)) === 'folder') return stage;
  }
  throw new LaneError('containment_unavailable', 'no folder is free to build the view in');
}
