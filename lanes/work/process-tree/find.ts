/**
 * Finds every process of a run, also one that left its group, its session or its parent: by its control group, by the
 * run's marker in the environment, by the process group, and by a folder or descriptor of the run that it still has open.
 */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { isWithin } from '../containment/plan.ts';
import { type ProcessStat, processStat, startTimeOf } from '../identity.ts';
import { cgroupName } from './cgroup.ts';

export const MARKER_VARIABLE = 'LANEKEEPER_RUN';

export interface RunTraces {
  /** The value of the marker variable in the run's environment. */
  marker: string;
  /** The process group that the run was started in. */
  group: number;
  /** Folders of the run: its copy and its io folder. */
  folders: readonly string[];
  /** Links in /proc/<pid>/fd that only the run has: its lock, its output streams. */
  descriptors: ReadonlySet<string>;
  /** Older processes are not of the run: when its first process started, in clock ticks since boot. */
  since: number;
}

export interface FoundProcess {
  pid: number;
  startTime: string;
  /**
   * It has a terminal, which nothing of a run is started with, and nothing but a folder speaks for it: most likely a
   * person who looks at the copy.
   */
  visitor: boolean;
}

/**
 * The living processes of a run and all their descendants, without ourselves and our ancestors. Zombies are dead: they
 * can do nothing any more. At level `none`, an orphan that wiped its environment, left the group and holds nothing open
 * cannot be found; in containment the end of the pid namespace takes it, and a control group of its own gives it away.
 */
export async function findRun(traces: RunTraces): Promise<FoundProcess[]> {
  const living = await livingProcesses(traces.since);
  const own = new Set<number>();
  const visitors = new Set<number>();
  for (const [pid, stat] of living) {
    const trace = stat.group === traces.group ? 'own' : await traceOf(pid, traces);
    if (trace === 'own' || (trace === 'folder' && stat.terminal === 0)) own.add(pid);
    else if (trace === 'folder') visitors.add(pid);
  }
  addDescendants(own, living);
  addDescendants(visitors, living);
  const found = (pid: number, visitor: boolean) => ({
    ...{ pid, visitor },
    startTime: living.get(pid)?.startTime ?? '',
  });
  const others = [...visitors].filter((pid) => !own.has(pid));
  return [...[...own].map((pid) => found(pid, false)), ...others.map((pid) => found(pid, true))];
}

function addDescendants(found: Set<number>, living: ReadonlyMap<number, ProcessStat>): void {
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const [pid, stat] of living) if (found.has(stat.parent)) found.add(pid);
  }
}

async function livingProcesses(since: number): Promise<Map<number, ProcessStat>> {
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger);
  const stats = await Promise.all(pids.map(async (pid) => [pid, await processStat(pid)] as const));
  const all = new Map<number, ProcessStat>();
  for (const [pid, stat] of stats) if (stat) all.set(pid, stat);
  const ancestors = ancestorsIn(all);
  const living = new Map<number, ProcessStat>();
  for (const [pid, stat] of all) {
    const isDead = stat.state === 'Z' || stat.state === 'X';
    if (!isDead && !ancestors.has(pid) && Number(stat.startTime) >= since) living.set(pid, stat);
  }
  return living;
}

/** Ourselves and whoever started us, up to the first process. */
function ancestorsIn(all: ReadonlyMap<number, ProcessStat>): Set<number> {
  const ancestors = new Set<number>();
  for (let pid: number | undefined = process.pid; pid !== undefined && !ancestors.has(pid); ) {
    ancestors.add(pid);
    pid = all.get(pid)?.parent;
  }
  return ancestors;
}

/** Signals a process unless its number has gone to another one. */
export async function signalProcess({ pid, startTime }: FoundProcess, signal: NodeJS.Signals): Promise<void> {
  if ((await startTimeOf(pid)) !== startTime) return;
  try {
    process.kill(pid, signal);
  } catch {
    // It ended meanwhile, or is not ours to signal; the next search tells.
  }
}

/**
 * Whether a process is the agent's own, not a part of the containment around it: inside a pid namespace below ours,
 * and not its first process, whose death would end everything at once.
 */
export async function isInside(pid: number): Promise<boolean> {
  const own = await namespacePids(process.pid);
  const theirs = await namespacePids(pid);
  return theirs.length > own.length && theirs.at(-1) !== '1';
}

async function namespacePids(pid: number): Promise<string[]> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
  return /^NSpid:\s*(.*)$/m.exec(status)?.[1]?.split(/\s+/) ?? [];
}

/** `own`: only a process of the run has this. `folder`: it has the copy open, as anybody could. */
async function traceOf(pid: number, traces: RunTraces): Promise<'own' | 'folder' | 'none'> {
  const groups = await readFile(`/proc/${pid}/cgroup`, 'latin1').catch(() => '');
  if (groups.split(/[/\n]/).includes(cgroupName(traces.marker))) return 'own';
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
  if (environment.split('\0').includes(`${MARKER_VARIABLE}=${traces.marker}`)) return 'own';
  const links = [await linkOf(`/proc/${pid}/cwd`)];
  for (const descriptor of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
    const link = await linkOf(`/proc/${pid}/fd/${descriptor}`);
    if (traces.descriptors.has(link) && (await isOwn(pid, descriptor, link))) return 'own';
    links.push(link);
  }
  const inFolder = (path: string) => traces.folders.some((folder) => isWithin(path, folder));
  return links.some(inFolder) ? 'folder' : 'none';
}

/** Anybody may have the lock's file open; of the run is who has the open file that the lock is on (proc(5), fdinfo). */
async function isOwn(pid: number, descriptor: string, link: string): Promise<boolean> {
  if (!link.startsWith('/')) return true;
  const about = await readFile(`/proc/${pid}/fdinfo/${descriptor}`, 'latin1').catch(() => '');
  return /^lock:\s.*\bFLOCK\b/m.test(about);
}

async function linkOf(path: string): Promise<string> {
  return await readlink(path).catch(() => '');
}
