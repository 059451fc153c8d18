/**
 * Ends what a dead owner left running. Where containment held, the death of the supervisor has ended the agent already;
 * this finds what it did not reach. It kills only what bears a trace of the run, and "nobody is left" is said only when
 * the lock that the tree inherited is free, its control group could be removed, and two searches in a row found nobody.
 */
import { readFile, readlink } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentProcess, ProcessIdentity } from '../../records/copies.ts';
import { startTimeOf } from '../identity.ts';
import { lockForAgent } from '../lock.ts';
import { findCgroup, killCgroup, type RunCgroup, removeCgroup } from './cgroup.ts';
import { findRun, type RunTraces, signalProcess } from './find.ts';
import { procView } from './proc-view.ts';

const PAUSE_MS = 25;
/** A process that forks while it is looked for can escape one search. */
const QUIET_ROUNDS = 2;
/** Tried in any case: on a busy machine a single search can take longer than there is time for. */
const LEAST_ROUNDS = 6;

export interface Orphan {
  /** The value of the marker variable in the run's environment: the copy's id. */
  marker: string;
  /** The copy and its io folder, and the grave where the copy lies there already. */
  folders: readonly string[];
  agentLock: string;
  /** From the ownership record; null where the run died before its agent was noted. */
  agent: AgentProcess | null;
  /** The dead owner: nothing of the run is older than it. */
  owner: ProcessIdentity;
  /** How long to go on at least. */
  waitMs: number;
  /** Told once, before the first kill. */
  killIntent(): Promise<void>;
}

/**
 * The caller holds the copy's owner lock: whoever has `agentLock` is then of the dead run. `still_there` means that
 * nothing of the copy may be touched: processes outlived every kill, hold the lock where they cannot be seen, /proc does
 * not show everything, or somebody at a terminal has the copy open. Throws LaneError `copy_failed` or `disk` if the
 * lock cannot be tried.
 */
export async function endOrphan(orphan: Orphan): Promise<'gone' | 'still_there'> {
  if ((await procView()) !== 'whole') return 'still_there';
  const endMs = performance.now() + orphan.waitMs;
  const traces = await tracesOf(orphan);
  const cgroup = await findCgroup(orphan.marker, orphan.agent?.cgroup ?? '');
  let told = false;
  const tell = async (): Promise<void> => {
    if (!told) await orphan.killIntent();
    told = true;
  };
  for (let round = 1, quiet = 0; ; round++) {
    if (cgroup && !(await isRemoved(cgroup))) {
      await tell();
      await killCgroup(cgroup);
    }
    const left = await findRun(traces);
    const isQuiet = left.length === 0 && (await isFree(orphan.agentLock)) && (await isRemoved(cgroup));
    quiet = isQuiet ? quiet + 1 : 0;
    if (quiet === QUIET_ROUNDS) return 'gone';
    if (left.some(({ visitor }) => !visitor)) await tell();
    for (const found of left) if (!found.visitor) await signalProcess(found, 'SIGKILL');
    // On a busy machine one search takes long: whoever is not found is not still there.
    if (quiet === 0 && round >= LEAST_ROUNDS && performance.now() >= endMs) return 'still_there';
    if (quiet === 0) await delay(PAUSE_MS);
  }
}

async function tracesOf({ marker, folders, agentLock, agent, owner }: Orphan): Promise<RunTraces> {
  const [bootId, pidNs] = await Promise.all([
    readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
    readlink('/proc/self/ns/pid'),
  ]);
  const startTime = Number(agent?.startTime ?? owner.startTime);
  // After a reboot nothing of the run can live. An unknown time leaves nobody out.
  const since = owner.bootId === bootId.trim() ? startTime || 0 : Number.POSITIVE_INFINITY;
  // The number of a group may have gone to another one, unless its first process still is the agent's.
  const isAgent =
    agent !== null && owner.pidNs === pidNs && (await startTimeOf(agent.pid)) === agent.startTime;
  return { marker, folders, group: isAgent ? agent.pid : -1, descriptors: new Set([agentLock]), since };
}

async function isRemoved(cgroup: RunCgroup | null): Promise<boolean> {
  return cgroup === null || (await removeCgroup(cgroup));
}

async function isFree(agentLock: string): Promise<boolean> {
  const lock = await lockForAgent(agentLock);
  await lock?.close();
  return lock !== null;
}
