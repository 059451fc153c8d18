/**
 * Stops every process of a run for a moment, so that its files hold still while they are read. The stop is undone in
 * every case but one: where we are killed meanwhile, the end of the containment takes the stopped processes too.
 */
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { LaneError } from '../../errors.ts';
import { processStat } from '../identity.ts';
import { type FoundProcess, findRun, type RunTraces, signalProcess } from './find.ts';

/** How often, and how far apart, a tree is looked through before it counts as not to be stopped. */
const FREEZE_ROUNDS = 60;
const LONGEST_PAUSE_MS = 20;
/** A process that forked just before it stopped shows its child only to the next look. */
const QUIET_ROUNDS = 2;

export interface Frozen {
  /** Lets the tree go on. A second call does nothing; it never rejects. */
  thaw(): Promise<void>;
}

/**
 * Returns once every process of the run stands still. What the run had stopped itself stays stopped after the thaw.
 * Throws LaneError `capture_failed` where it does not come to a stand; everything goes on then.
 */
export async function freezeRun(traces: RunTraces): Promise<Frozen> {
  const stopped = new Map<number, FoundProcess>();
  const thaw = async (): Promise<void> => {
    const ours = [...stopped.values()];
    stopped.clear();
    for (const one of ours) await signalProcess(one, 'SIGCONT');
  };
  try {
    await standStill(traces, stopped);
    return { thaw };
  } catch (error) {
    await thaw();
    throw error;
  }
}

async function standStill(traces: RunTraces, stopped: Map<number, FoundProcess>): Promise<void> {
  let quiet = 0;
  for (let round = 0; round < FREEZE_ROUNDS; round++) {
    quiet = (await stopMoving(traces, stopped)) ? 0 : quiet + 1;
    if (quiet === QUIET_ROUNDS) return;
    await delay(Math.min(round, LONGEST_PAUSE_MS));
  }
  throw new LaneError('capture_failed', `the processes of ${traces.marker} cannot be stopped`);
}

/** Whether any process of the run still moved. */
async function stopMoving(traces: RunTraces, stopped: Map<number, FoundProcess>): Promise<boolean> {
  const found = await findRun(traces);
  const moving: FoundProcess[] = [];
  for (const one of found) if (!(await standsStill(one.pid))) moving.push(one);
  for (const one of moving) {
    if (stopped.has(one.pid)) await helpOn(one, found, stopped);
    stopped.set(one.pid, one);
    await signalProcess(one, 'SIGSTOP');
  }
  return moving.length > 0;
}

/**
 * A process that starts another one waits in the kernel, unstoppable, until that one runs its program (vfork(2)). If
 * the child was stopped before it came that far, it has to go on for a moment.
 */
async function helpOn(
  parent: FoundProcess,
  found: readonly FoundProcess[],
  stopped: ReadonlyMap<number, FoundProcess>,
): Promise<void> {
  if ((await processStat(parent.pid))?.state !== 'D') return;
  for (const one of found) {
    const isChild = (await processStat(one.pid))?.parent === parent.pid;
    if (isChild && stopped.has(one.pid)) await signalProcess(one, 'SIGCONT');
  }
}

/** A stop reaches the threads of a process one after the other: it stands still when the last one does. */
async function standsStill(pid: number): Promise<boolean> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  for (const thread of threads) {
    const stat = await readFile(`/proc/${pid}/task/${thread}/stat`, 'latin1').catch(() => null);
    // Stopped, stopped by a tracer, or dead (proc(5)).
    if (stat !== null && !/^[TtZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))) return false;
  }
  return true;
}
