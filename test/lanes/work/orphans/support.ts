/** Supervisors to be killed, and an account of who is left that owes nothing to the search under test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { CopyRecord } from '../../../../lanes/records/copies.ts';
import type { CopyPaths } from '../../../../lanes/work/copy.ts';
import { endOrphan } from '../../../../lanes/work/process-tree/orphans.ts';
import { builtProgram } from '../../../support/programs.ts';
import { until } from '../../../support/until.ts';
import { makeRemote, put, temporaryFolder } from '../support.ts';

const agents = fileURLToPath(new URL('../agents/', import.meta.url));

export interface OrphanRun {
  kind: string;
  /** On the command line of every process of the agent. */
  name: string;
  record: CopyRecord;
  paths: CopyPaths;
}

/** One supervisor with one run of every kind, all of which have begun to write; it is then killed. */
export async function orphansOf(level: string, kinds: readonly string[]): Promise<OrphanRun[]> {
  const folder = temporaryFolder();
  put(folder, 'orphan.sh', readFileSync(join(agents, 'orphan.sh')));
  const args = [
    builtProgram('orphan-supervisor'),
    join(folder, 'data'),
    makeRemote({ a: 'a' }),
    level,
    join(folder, 'orphan.sh'),
  ];
  const supervisor = spawn(process.execPath, [...args, ...kinds], { stdio: ['ignore', 'pipe', 'inherit'] });
  const runs = await linesOf<OrphanRun>(supervisor, kinds.length);
  for (const { kind, paths } of runs) {
    const canary = join(paths.work, 'canary');
    await until(`${kind} writes`, async () => existsSync(canary) && statSync(canary).size > 0);
  }
  supervisor.kill('SIGKILL');
  await once(supervisor, 'exit');
  return runs;
}

async function linesOf<T>(child: ChildProcess, count: number): Promise<T[]> {
  if (!child.stdout) throw new Error('no output');
  const found: T[] = [];
  for await (const line of createInterface(child.stdout)) {
    if (found.push(JSON.parse(line)) === count) break;
  }
  return found;
}

/** Living processes of an agent, by their command lines. */
export function processesOf(run: OrphanRun): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(run.name);
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Ends an orphan as a reaper would that holds the owner's lock. */
export async function endRun({ record, paths }: OrphanRun, waitMs = 60_000): Promise<string> {
  const { agent, owner, id } = record;
  const folders = [paths.work, paths.io, paths.grave];
  const killIntent = async (): Promise<void> => {};
  const traces = { marker: id, folders, agentLock: paths.agentLock, agent, owner };
  return await endOrphan({ ...traces, waitMs, killIntent });
}
