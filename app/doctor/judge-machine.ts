/** Judgements on the machine: versions, tools and containment. Pure; what was seen comes in. */
import type { ContainmentLevel, ProcView } from '../../lanes/index.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

export interface MachineFacts {
  readonly node: string;
  /** What `git --version` says; null where there is no git. */
  readonly git: string | null;
  /** Levels that were seen to hold here. */
  readonly levels: readonly ContainmentLevel[];
  readonly tools: Readonly<Record<'bwrap' | 'flock' | 'setpriv' | 'unshare', boolean>>;
  /** Settings of the kernel that stand in the way of user namespaces, those that are there. */
  readonly settings: Readonly<Record<string, string>>;
  readonly proc: ProcView;
  /** Whether a lane requires containment, and whether one does without. */
  readonly lanes: { readonly required: boolean; readonly without: boolean };
}

/** As in package.json: `^20.19.0 || >=22.12.0`. */
export function judgeNode(version: string): Finding {
  const [major, minor] = numbersIn(version);
  const fits = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22;
  if (fits) return ok('node', version);
  return fail('node', version, 'Install Node 20.19 or later of 20, or 22.12 or later.');
}

/** `git init --initial-branch` needs 2.28; 2.39 is the oldest that was tried. */
export function judgeGit(version: string | null): Finding {
  if (version === null) return fail('git', 'there is no git', 'Install git 2.39 or later.');
  const [major, minor] = numbersIn(version);
  if (major < 2 || (major === 2 && minor < 28)) return fail('git', version, 'Install git 2.39 or later.');
  if (major === 2 && minor < 39)
    return warn('git', version, 'Install git 2.39 or later: nothing older was tried.');
  return ok('git', version);
}

/** Without `flock` no copy can be owned; without `setpriv` an agent may outlive its supervisor. */
export function judgeTools({ tools }: MachineFacts): Finding {
  const missing = (['flock', 'setpriv', 'unshare'] as const).filter((name) => !tools[name]);
  if (missing.length === 0) return ok('util-linux', 'flock, setpriv and unshare are there');
  const evidence = `not found: ${missing.join(', ')}`;
  const better = 'Install util-linux, in a system folder such as /usr/bin.';
  return missing.includes('flock')
    ? fail('util-linux', evidence, better)
    : warn('util-linux', evidence, better);
}

/** Which containment agents run in, and what is in the way of a stronger one. */
export function judgeContainment(facts: MachineFacts): Finding {
  const check = 'containment';
  const best = facts.levels.find((level) => level === 'bwrap' || level === 'unshare');
  if (best === 'bwrap') return ok(check, 'bwrap holds');
  const better = hintsFor(facts).join(' ');
  if (best === 'unshare') return ok(check, 'unshare holds', better);
  const evidence = `neither bwrap nor unshare holds${settingsText(facts)}`;
  if (!facts.lanes.required) return warn(check, evidence, `Agents see all that this user sees. ${better}`);
  return fail(check, evidence, `Lanes that require containment are refused. ${better}`);
}

/** How surely an agent is ended whose supervisor was killed: the weakest level that a lane may run at counts. */
export function judgeOrphans({ levels, lanes, tools }: MachineFacts): Finding {
  const check = 'orphans';
  const contained = levels.some((level) => level === 'bwrap' || level === 'unshare');
  if (contained && !lanes.without) return ok(check, 'the pid namespace of an agent ends with its supervisor');
  if (levels.includes('cgroup'))
    return ok(check, 'agents without containment are ended through their control group');
  if (!lanes.without) return ok(check, 'no lane runs without containment');
  const first = tools.setpriv ? 'the first process of an agent dies with its supervisor, ' : '';
  return warn(
    check,
    `${first}the others are searched for in /proc: one that drops its environment, folder and lock is not found`,
    'Use `containment: required`, or let the worker make control groups (cgroup v2): as a systemd service with Delegate=yes.',
  );
}

/** Whether a search for what is left of a run can be believed. */
export function judgeProc({ proc }: MachineFacts): Finding {
  if (proc === 'whole') return ok('proc', '/proc shows all processes');
  if (proc === 'other_namespace')
    return fail('proc', '/proc is of another pid namespace', 'Mount a /proc of this pid namespace.');
  const better = 'Mount /proc without hidepid: until then the work of dead owners is kept, and not saved.';
  return warn('proc', '/proc hides processes', better);
}

function hintsFor({ tools, settings }: MachineFacts): string[] {
  const hints = tools.bwrap ? [] : ['Install bubblewrap 0.8 or later.'];
  if (settings['kernel.unprivileged_userns_clone'] === '0')
    hints.push('Set kernel.unprivileged_userns_clone=1 with sysctl.');
  if (settings['user.max_user_namespaces'] === '0')
    hints.push('Set user.max_user_namespaces above 0 with sysctl.');
  if (settings['kernel.apparmor_restrict_unprivileged_userns'] === '1')
    hints.push('Allow user namespaces to bwrap with an AppArmor profile.');
  if (hints.length === 0)
    hints.push(
      'Allow user namespaces, pid namespaces and mounts: a container or a security module forbids them.',
    );
  return hints;
}

function settingsText({ settings }: MachineFacts): string {
  const known = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  return known.length === 0 ? '' : ` (${known.join(', ')})`;
}

function numbersIn(version: string): [number, number] {
  const found = /(\d+)\.(\d+)/.exec(version);
  return [Number(found?.[1] ?? 0), Number(found?.[2] ?? 0)];
}
