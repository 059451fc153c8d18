/**
 * Containment: the agent is not trusted, and neither is a check that runs what an agent wrote. At its start a worker
 * tries each level and keeps those that hold; a level that could not hide everything is not offered.
 *
 * Inside, the command sees the host read-only, without homes, /tmp, /run, the data folder, key files and listening
 * sockets; it writes the copy, its io folder and private memory; it sees no other process, has no capability and gets
 * none. The network is shared, since agents call model APIs: sockets without a path (abstract ones) and ports of this
 * machine stay reachable, so those must ask for a password.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, realpath } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { LaneError } from '../errors.ts';
import type { ContainmentLevel } from '../records/copies.ts';
import { containWithBwrap } from './containment/bwrap.ts';
import { isContained } from './containment/levels.ts';
import { holds } from './containment/probe.ts';
import type { ContainedCommand, ContainRequest } from './containment/request.ts';
import { containWithUnshare } from './containment/unshare.ts';
import { cgroupHolds } from './process-tree/cgroup.ts';
import { findProgram, TOOL_PATH } from './tools.ts';

export type { ContainedCommand, ContainRequest } from './containment/request.ts';

export interface Containment {
  readonly level: ContainmentLevel;
  /**
   * How to start a command at this level. Its TMPDIR becomes `<ioDir>/tmp`. Throws LaneError `agent_unavailable` if
   * the program is not found or lies in a hidden place, `copy_failed` if a link took the place of the copy.
   */
  contain(request: ContainRequest): Promise<ContainedCommand>;
}

/**
 * The levels that hold on this machine, the strongest first; the last is always `none`, which has no containment and
 * `cgroup` neither: there an agent sees what its user sees. `place` is a folder of ours.
 */
export async function probeContainment(place: string): Promise<Containment[]> {
  const levels: Containment[] = [];
  for (const candidate of await candidates()) {
    if (await holds(candidate.contain, place)) levels.push(candidate);
  }
  if (await cgroupHolds(`probe-${randomUUID()}`)) levels.push(level('cgroup', withoutContainment));
  return [...levels, level('none', withoutContainment)];
}

/** Throws LaneError `containment_unavailable` if a lane requires containment and none holds here. */
export function chooseContainment(levels: readonly Containment[], policy: 'required' | 'none'): Containment {
  const chosen = levels.find(({ level }) => isContained(level) === (policy === 'required'));
  if (!chosen) throw new LaneError('containment_unavailable');
  return chosen;
}

/** The levels that the machine has the programs for, the strongest first; none of them has been tried. */
export async function candidates(): Promise<Containment[]> {
  const [bwrap, setpriv, unshare, shell] = await Promise.all(
    ['bwrap', 'setpriv', 'unshare', 'sh'].map((name) => findProgram(name, TOOL_PATH)),
  );
  const found: Containment[] = [];
  if (bwrap) found.push(level('bwrap', (request) => containWithBwrap(bwrap, request)));
  if (setpriv && unshare && shell) {
    found.push(level('unshare', (request) => containWithUnshare({ setpriv, unshare, shell }, request)));
  }
  return found;
}

function level(name: ContainmentLevel, contain: Containment['contain']): Containment {
  return { level: name, contain: async (request) => await contain(await ready(request)) };
}

/** Nothing is hidden. Its first process at least dies with us, where setpriv is there to ask the kernel for that. */
async function withoutContainment(request: ContainRequest): Promise<ContainedCommand> {
  const [file = '', ...args] = request.argv;
  const plain = { file, args, env: { ...request.env }, cwd: request.cwd };
  const setpriv = await findProgram('setpriv', TOOL_PATH);
  if (!setpriv) return plain;
  return { ...plain, file: setpriv, args: ['--pdeathsig', 'KILL', '--', ...request.argv] };
}

/** With the program looked up on the command's own PATH, before anything is hidden, and a folder for temporary files. */
async function ready(request: ContainRequest): Promise<ContainRequest> {
  const [name = '', ...args] = request.argv;
  const program = name.includes('/') ? name : await findProgram(name, request.env.PATH ?? TOOL_PATH);
  if (!program) throw new LaneError('agent_unavailable', `${JSON.stringify(name)} is not on the lane's PATH`);
  if (isAbsolute(program) && !(await findProgram(program.slice(1), '/'))) {
    throw new LaneError('agent_unavailable', `${program} is not there or cannot be run`);
  }
  for (const folder of [request.copyDir, request.ioDir]) {
    // A link in its place would open what it points to for writing.
    if ((await realpath(folder).catch(() => null)) !== folder)
      throw new LaneError('copy_failed', `${folder} is not a folder`);
  }
  const temporary = join(request.ioDir, 'tmp');
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  return { ...request, argv: [program, ...args], env: { ...request.env, TMPDIR: temporary } };
}
