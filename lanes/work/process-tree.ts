/**
 * Runs one command of an agent or a check and ends its whole process tree. Whatever happens (exit, deadline, stop,
 * death of the command's first process), the answer comes only when no process of the run is left, so that a capture
 * after it sees files that nobody writes any more.
 */
import { type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { LaneError } from '../errors.ts';
import { errorCode } from './files.ts';
import { lockForAgent } from './lock.ts';
import { enterCgroup, openCgroup, removeCgroup } from './process-tree/cgroup.ts';
import { strayDescriptors } from './process-tree/descriptors.ts';
import { reasonOf } from './process-tree/ending.ts';
import { MARKER_VARIABLE } from './process-tree/find.ts';
import type { TreeEnding, TreeRequest, TreeResult } from './process-tree/request.ts';
import { RunningTree } from './process-tree/running.ts';

export type { LiveTree, TreeEnding, TreeRequest, TreeResult } from './process-tree/request.ts';

/**
 * Throws LaneError `tree_not_ended` if processes of the run outlive every kill: its copy must then be left alone. An
 * error of `spawned` or `killIntent` ends the run and is thrown after that.
 */
export async function runTree(request: TreeRequest): Promise<TreeResult> {
  if (request.signal.aborted) return withoutOutput({ kind: 'stopped', why: reasonOf(request.signal) });
  const lock = await lockForAgent(request.agentLock);
  if (!lock) throw new LaneError('tree_not_ended', `${request.agentLock} is held by an earlier command`);
  let tree: RunningTree;
  try {
    tree = await start(request, lock);
  } catch (error) {
    const why = errorCode(error);
    if (why === undefined) throw error;
    return withoutOutput({ kind: 'spawn_failed', why });
  } finally {
    await lock.close();
  }
  return await tree.finish();
}

async function start(request: TreeRequest, lock: FileHandle): Promise<RunningTree> {
  const cgroup = request.level === 'cgroup' ? await openCgroup(request.marker) : null;
  if (request.level === 'cgroup' && !cgroup)
    throw new LaneError('containment_unavailable', 'no control group');
  const { file, args, cwd, env } = cgroup ? enterCgroup(cgroup, request.command) : request.command;
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const stdin = await open(request.stdinFile ?? '/dev/null', flags);
  const nothing = await open('/dev/null', constants.O_RDWR);
  try {
    const process = spawn(file, args, {
      cwd,
      env: { ...env, [MARKER_VARIABLE]: request.marker },
      // Its own session and group: signals for it do not reach us, and it has no terminal.
      detached: true,
      stdio: stdioOf(stdin.fd, lock.fd, nothing.fd, await strayDescriptors()),
    });
    const { pid, stdout, stderr } = process;
    if (pid !== undefined && stdout && stderr)
      return new RunningTree(request, { process, pid, cgroup, stdout, stderr });
    if (cgroup) await removeCgroup(cgroup);
    const [error] = await once(process, 'error');
    throw error;
  } finally {
    await stdin.close();
    await nothing.close();
  }
}

/** Standard streams, the lock as descriptor 3, and nothing in the place of every stray descriptor. */
function stdioOf(stdin: number, lock: number, nothing: number, strays: readonly number[]): StdioOptions {
  const stdio: ('pipe' | 'ignore' | number)[] = [stdin, 'pipe', 'pipe', lock];
  for (const stray of strays) {
    while (stdio.length <= stray) stdio.push('ignore');
    if (stray > 3) stdio[stray] = nothing;
  }
  return stdio;
}

function withoutOutput(ending: TreeEnding): TreeResult {
  const none = { text: '', bytes: 0 };
  return { ending, stdout: none, stderr: none };
}
