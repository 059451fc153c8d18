/**
 * One program in containment, from its start until its whole process tree is gone. Agents and checks both run here, one
 * after the other: what is alive of a run holds the copy's `agent.lock`.
 */
import { isLaneError } from '../errors.ts';
import { causeOfEnding } from '../rules/death.ts';
import { type CheckpointPace, checkpointPace, takeCheckpoints } from './checkpoints.ts';
import type { ContainedCommand, Containment } from './containment.ts';
import { type Copy, markRunning } from './copy.ts';
import { eventOf } from './machine-ledger.ts';
import { memoryKills } from './memory-kills.ts';
import { runTree, type TreeEnding, type TreeResult } from './process-tree.ts';
import type { Workplace } from './workplace.ts';

export interface ContainedProgram {
  readonly argv: readonly string[];
  /** The checkout and the io folder: the only places that the program may write. */
  readonly workDir: string;
  readonly ioDir: string;
  /** Object folders that the checkout borrows from. */
  readonly readableDirs: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What it reads on stdin; null for nothing. */
  readonly stdinFile: string | null;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The run's agent is written into the copy's record and the ledger; a check comes after the capture and is not. */
  readonly isAgent: boolean;
}

/** How it ended, with the end of what it printed. Its process tree is gone by then. */
export interface ProgramEnd {
  readonly ending: TreeEnding;
  readonly tail: string;
}

/** @throws LaneError `tree_not_ended`: nothing of the copy may be touched then. `disk`. */
export type RunContained = (program: ContainedProgram) => Promise<ProgramEnd>;

export interface RunnerDeps {
  readonly place: Workplace;
  /** Key and credential files besides the data folder, which no agent may see. */
  readonly hide: readonly string[];
  /** How long a program has to end by itself after SIGINT. */
  readonly graceMs: number;
  /** How often and how long a running copy is looked at. Default: `checkpointPace`. */
  readonly checkpoints?: CheckpointPace;
}

/** The agent's control group, and what the kernel had killed in it when the agent began. */
interface Memory {
  readonly cgroup: string;
  readonly before: number | null;
}

/** What runs the programs of one copy. */
export function containedRunner(deps: RunnerDeps, containment: Containment, copy: Copy): RunContained {
  return async (program) => {
    const { place, graceMs } = deps;
    let memory: Memory = { cgroup: '', before: null };
    const command = await contain(deps, containment, program);
    if ('ending' in command) {
      if (program.isAgent) await noteExit(place, copy, command.ending, memory);
      return command;
    }
    const end = await runTree({
      command,
      level: containment.level,
      marker: copy.id,
      folders: [program.workDir, program.ioDir],
      agentLock: copy.paths.agentLock,
      ...(program.stdinFile === null ? {} : { stdinFile: program.stdinFile }),
      ...{ timeoutMs: program.timeoutMs, graceMs, signal: program.signal },
      spawned: async (agent) => {
        if (!program.isAgent) return;
        memory = { cgroup: agent.cgroup, before: await memoryKills(agent.cgroup) };
        await markRunning(copy, agent);
        await place.ledger.append({ ...eventOf(place, copy.record), event: 'run_started', agent });
        await place.point('run.spawned');
      },
      beside: async (tree, over) => {
        if (!program.isAgent) return;
        const running = { place, copy, containment: containment.level, tree, over };
        await takeCheckpoints(running, deps.checkpoints ?? checkpointPace);
      },
      killIntent: (signal, why) =>
        place.ledger.append({ ...eventOf(place, copy.record), event: 'kill_intent', signal, why }),
    });
    if (program.isAgent) await noteExit(place, copy, end.ending, memory);
    return { ending: end.ending, tail: tailOf(end) };
  };
}

/** The command, or its end where the program is not there: for a check that is a finding, not a failure of the run. */
async function contain(
  deps: RunnerDeps,
  containment: Containment,
  program: ContainedProgram,
): Promise<ContainedCommand | ProgramEnd> {
  try {
    return await containment.contain({
      argv: program.argv,
      cwd: program.workDir,
      env: program.env,
      copyDir: program.workDir,
      ioDir: program.ioDir,
      expose: program.readableDirs,
      hide: [deps.place.dataDir, ...deps.hide],
    });
  } catch (error) {
    if (!isLaneError(error, 'agent_unavailable')) throw error;
    return { ending: { kind: 'spawn_failed', why: error.message }, tail: '' };
  }
}

async function noteExit(place: Workplace, copy: Copy, ending: TreeEnding, memory: Memory): Promise<void> {
  const cause = causeOfEnding(ending, { before: memory.before, after: await memoryKills(memory.cgroup) });
  await place.ledger.append({ ...eventOf(place, copy.record), event: 'run_exited', ...cause });
}

/** Programs say on stderr why they failed; some say it on stdout only. */
function tailOf({ stdout, stderr }: TreeResult): string {
  return stderr.text.trim() === '' ? stdout.text : stderr.text;
}
