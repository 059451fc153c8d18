/** A look at the machine: what is tried here is what agents will run in. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { findProgram, probeContainment, procView, TOOL_PATH } from '../../lanes/index.ts';
import type { Finding } from './finding.ts';
import {
  judgeContainment,
  judgeGit,
  judgeNode,
  judgeOrphans,
  judgeProc,
  judgeTools,
  type MachineFacts,
} from './judge-machine.ts';

const settingNames = [
  'kernel.unprivileged_userns_clone',
  'user.max_user_namespaces',
  'kernel.apparmor_restrict_unprivileged_userns',
];
const versionWithinMs = 10_000;

/** `place` is a folder of ours in which containment is tried; null where there is none to try in. */
export async function lookAtMachine(place: string, lanes: MachineFacts['lanes']): Promise<Finding[]> {
  const [git, bwrap, flock, setpriv, unshare] = await Promise.all([
    gitVersion(),
    ...['bwrap', 'flock', 'setpriv', 'unshare'].map(
      async (name) => (await findProgram(name, TOOL_PATH)) !== null,
    ),
  ]);
  const levels = (await probeContainment(place)).map(({ level }) => level);
  const facts: MachineFacts = {
    ...{ node: process.version, git, levels, lanes, proc: await procView(), settings: await settings() },
    tools: { bwrap: !!bwrap, flock: !!flock, setpriv: !!setpriv, unshare: !!unshare },
  };
  const first = [judgeNode(facts.node), judgeGit(facts.git), judgeTools(facts)];
  return [...first, judgeContainment(facts), judgeOrphans(facts), judgeProc(facts)];
}

async function gitVersion(): Promise<string | null> {
  const git = await findProgram('git', TOOL_PATH);
  if (git === null) return null;
  const { stdout } = await promisify(execFile)(git, ['--version'], { timeout: versionWithinMs });
  return stdout.trim();
}

async function settings(): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of settingNames) {
    const path = `/proc/sys/${name.replaceAll('.', '/')}`;
    const text = await readFile(path, 'utf8').catch(() => null);
    if (text !== null) found[name] = text.trim();
  }
  return found;
}
