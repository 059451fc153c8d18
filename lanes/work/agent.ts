/** Starts the agent of a `command` lane in its copy, and says how it ended. */

import { LaneError } from '../errors.ts';
import type { AgentConfig } from '../records/config.ts';
import type { Copy } from './copy.ts';
import { type Environment, makeEnvironment } from './environment.ts';
import type { ProgramEnd, RunContained } from './run-contained.ts';
import type { TaskFiles } from './task-files.ts';

export interface AgentStart {
  readonly agent: Extract<AgentConfig, { kind: 'command' }>;
  readonly copy: Copy;
  readonly files: TaskFiles;
  readonly worker: Environment;
  readonly timeoutMs: number;
  readonly run: RunContained;
  readonly signal: AbortSignal;
}

/**
 * Runs the agent until its whole process tree is gone.
 * @throws LaneError `agent_unavailable` where its program is not there, `disk`.
 */
export async function runAgent(start: AgentStart): Promise<ProgramEnd> {
  const { copy, files, agent } = start;
  const env = makeEnvironment({
    worker: start.worker,
    names: agent.env,
    ioDir: copy.paths.io,
    own: {
      LANES_TASK_FILE: files.task,
      LANES_PROMPT_FILE: files.prompt,
      LANES_RESULT_FILE: files.result,
    },
  });
  const end = await start.run({
    argv: agent.run,
    workDir: copy.paths.work,
    ioDir: copy.paths.io,
    readableDirs: [copy.borrowedObjects],
    env,
    stdinFile: files.prompt,
    timeoutMs: start.timeoutMs,
    signal: start.signal,
    isAgent: true,
  });
  if (end.ending.kind === 'spawn_failed') throw new LaneError('agent_unavailable', end.ending.why);
  return end;
}
