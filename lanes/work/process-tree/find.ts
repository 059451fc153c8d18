/**
 * Finds every process of a run, also one that left its group, its session or its parent: by the run's marker in the
 * environment, by the group, and by a folder or descriptor of the run that it still has open.
 */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { isWithin } from '../containment/plan.ts';
import { type ProcessStat, processStat, startTimeOf } from '../identity.ts';

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
}

/**
 * The living processes of a run and all their descendants, without ourselves. Zombies are dead: they can do nothing
 * any more. Without containment, an orphan that wiped its environment, left the group and holds nothing open cannot be
 * found; in containment the end of the pid namespace takes it.
 */
export async function findRun(traces: RunTraces): Promise<FoundProcess[]> {
  const living = await livingProcesses(traces.since);
  const found = new Set<number>();
  for (const [pid, stat] of living) {
    if (stat.group === traces.group || (await hasTrace(pid, traces))) found.add(pid);
  }
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const [pid, stat] of living) if (found.has(stat.parent)) found.add(pid);
  }
  return [...found].map((pid) => ({ pid, startTime: living.get(pid)?.startTime ?? '' }));
}

async function livingProcesses(since: number): Promise<Map<number, ProcessStat>> {
  const pids = (await readdir('/proc'))
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid);
  const stats = await Promise.all(pids.map(async (pid) => [pid, await processStat(pid)] as const));
  const living = new Map<number, ProcessStat>();
  for (const [pid, stat] of stats) {
    if (stat && stat.state !== 'Z' && stat.state !== 'X' && Number(stat.startTime) >= since)
      living.set(pid, stat);
  }
  return living;
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

async function hasTrace(pid: number, traces: RunTraces): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
  if (environment.split('\0').includes(`${MARKER_VARIABLE}=${traces.marker}`)) return true;
  const inFolder = (path: string) => traces.folders.some((folder) => isWithin(path, folder));
  if (inFolder(await linkOf(`/proc/${pid}/cwd`))) return true;
  const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
  for (const descriptor of descriptors) {
    const link = await linkOf(`/proc/${pid}/fd/${descriptor}`);
    if (traces.descriptors.has(link) || inFolder(link)) return true;
  }
  return false;
}

async function linkOf(path: string): Promise<string> {
  return await readlink(path).catch(() => '');
}
