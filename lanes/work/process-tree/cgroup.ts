/**
 * A control group (cgroup v2) for one run: nothing that a run starts leaves it, whatever it does to its session, parent,
 * environment and descriptors, and one write ends all of it, with no gap to fork through. Only a process that may write
 * to control groups, such as root's, could move itself out.
 */
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isWithin } from '../containment/plan.ts';
import type { ContainedCommand } from '../containment/request.ts';
import { errorCode } from '../files.ts';
import { runProgram } from '../program.ts';
import { TOOL_PATH } from '../tools.ts';

/** Moves itself into the group (argument 1), then becomes the command: no process of the run is ever outside. */
const ENTER = 'echo $$ >"$0/cgroup.procs" && exec "$@"';
const PROBE_MS = 5_000;
const PROBE_PAUSE_MS = 5;

export interface RunCgroup {
  folder: string;
  /** As its processes name it in /proc/<pid>/cgroup. */
  line: string;
}

/** The name of a run's group; the last part of its path. */
export function cgroupName(marker: string): string {
  return `lanekeeper-${marker}`;
}

/** Makes the group of a run below our own, or finds it there. Null where there is no cgroup v2 that we may write. */
export async function openCgroup(marker: string): Promise<RunCgroup | null> {
  const [mounts, own] = await readOwn();
  const found = placeOf(mounts, own, cgroupName(marker));
  if (!found) return null;
  try {
    await mkdir(found.folder);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') return null;
  }
  return found;
}

/** The group of a dead owner's run: where its record says, else where we would have made it. */
export async function findCgroup(marker: string, recorded: string): Promise<RunCgroup | null> {
  const [mounts, own] = await readOwn();
  const path = recorded.replace(/^0::/, '');
  const name = cgroupName(marker);
  if (basename(path) === name) return placeOf(mounts, `0::${join(path, '..')}`, name);
  return placeOf(mounts, own, name);
}

/** The command, started inside the group. */
export function enterCgroup({ folder }: RunCgroup, command: ContainedCommand): ContainedCommand {
  return { ...command, file: '/bin/sh', args: ['-c', ENTER, folder, command.file, ...command.args] };
}

/** Kills every process of the group at once (cgroup.kill, Linux 5.14). A group that is gone has none. */
export async function killCgroup({ folder }: RunCgroup): Promise<void> {
  await writeFile(join(folder, 'cgroup.kill'), '1').catch(() => {});
}

/**
 * Removes the group and those made in it. The kernel refuses while a process lives in one of them: false means that
 * somebody is left, whatever a search in /proc found.
 */
export async function removeCgroup({ folder }: Pick<RunCgroup, 'folder'>): Promise<boolean> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries.filter((one) => one.isDirectory())) {
    await removeCgroup({ folder: join(folder, entry.name) });
  }
  return await rmdir(folder).then(
    () => true,
    (error: unknown) => errorCode(error) !== 'EBUSY',
  );
}

/** Whether a group ends what runs in it here: tried with a process that left its session. `marker` is fresh. */
export async function cgroupHolds(marker: string): Promise<boolean> {
  const group = await openCgroup(marker);
  if (!group) return false;
  const script = 'setsid sleep 60 & exec sleep 60';
  const inside = { file: '/bin/sh', args: ['-c', script], env: { PATH: TOOL_PATH }, cwd: '/' };
  // Its output is closed only when both are gone.
  const ended = runProgram({ ...enterCgroup(group, inside), signal: AbortSignal.timeout(PROBE_MS) }).then(
    (output) => output.signal === 'SIGKILL',
    () => false,
  );
  await Promise.race([ended, bothInside(group)]);
  await killCgroup(group);
  const held = await ended;
  for (let tried = 0; tried < PROBE_MS / PROBE_PAUSE_MS && !(await removeCgroup(group)); tried++) {
    await delay(PROBE_PAUSE_MS);
  }
  return held;
}

async function bothInside({ folder }: RunCgroup): Promise<void> {
  for (let waitedMs = 0; waitedMs < PROBE_MS; waitedMs += PROBE_PAUSE_MS) {
    const pids = await readFile(join(folder, 'cgroup.procs'), 'latin1').catch(() => '');
    if (pids.trim().split('\n').length >= 2) return;
    await delay(PROBE_PAUSE_MS);
  }
}

async function readOwn(): Promise<[string, string]> {
  const read = (path: string) => readFile(path, 'latin1').catch(() => '');
  const [mounts, own] = await Promise.all([read('/proc/self/mountinfo'), read('/proc/self/cgroup')]);
  return [mounts, own.split('\n').find((line) => line.startsWith('0::')) ?? ''];
}

/** By proc(5) and cgroups(7): the folder of a group below `parent`, a line of /proc/<pid>/cgroup; null if not mounted. */
function placeOf(mountinfo: string, parent: string, name: string): RunCgroup | null {
  if (!parent.startsWith('0::/')) return null;
  const path = join(parent.slice('0::'.length), name);
  for (const line of mountinfo.split('\n')) {
    const [before = '', type = ''] = line.split(' - ');
    const [, , , root = '', point = ''] = before.split(' ');
    if (!type.startsWith('cgroup2 ') || !isWithin(path, root)) continue;
    return { folder: join(point, root === '/' ? path : path.slice(root.length)), line: `0::${path}` };
  }
  return null;
}
