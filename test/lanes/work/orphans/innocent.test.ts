import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProcessIdentity } from '../../../../lanes/records/copies.ts';
import { ownIdentity, startTimeOf } from '../../../../lanes/work/identity.ts';
import { lockForAgent } from '../../../../lanes/work/lock.ts';
import { endOrphan, type Orphan } from '../../../../lanes/work/process-tree/orphans.ts';
import { judgeProcView } from '../../../../lanes/work/process-tree/proc-view.ts';
import { builtProgram } from '../../../support/programs.ts';
import { until } from '../../../support/until.ts';
import { put, temporaryFolder } from '../support.ts';

const root = process.cwd();
const children: ChildProcess[] = [];
let folder: string;
let copy: string;
let agentLock: string;
let owner: ProcessIdentity;

beforeEach(async () => {
  folder = temporaryFolder();
  copy = join(folder, 'copies', 'work', 'a');
  agentLock = join(folder, 'agent.lock');
  mkdirSync(copy, { recursive: true });
  put(folder, 'agent.lock', '');
  owner = await ownIdentity();
});

afterEach(() => {
  process.chdir(root);
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function orphan(changes: Partial<Orphan> = {}): Orphan {
  const killIntent = async (): Promise<void> => {};
  return { marker: 'a', folders: [copy], agentLock, agent: null, owner, waitMs: 0, killIntent, ...changes };
}

const isAlive = (child: ChildProcess) => existsSync(`/proc/${child.pid}/exe`);

async function start(cwd: string, argv: string[], stdio: (number | 'ignore')[] = []): Promise<ChildProcess> {
  const [file = '', ...args] = argv;
  // Each leads a group of its own.
  const options = { cwd, detached: true, stdio: stdio.length > 0 ? stdio : ('ignore' as const) };
  const child = spawn(file, args, options);
  children.push(child);
  await once(child, 'spawn');
  return child;
}

const sleep = ['sleep', '1000'];

async function end(changes: Partial<Orphan> = {}): Promise<string> {
  return await endOrphan(orphan({ waitMs: 30_000, ...changes }));
}

describe('nobody is killed who is not of the run', () => {
  it('a process beside the copy, or above it', async () => {
    mkdirSync(`${copy}-beside`);
    const others = [await start(folder, sleep), await start(`${copy}-beside`, sleep)];
    expect(await end()).toBe('gone');
    expect(others.map(isAlive)).toEqual([true, true]);
  });

  it('ourselves, though we stand in the copy', async () => {
    process.chdir(copy);
    expect(await end()).toBe('gone');
  });

  it('a process in the copy that is older than the run, or of another boot', async () => {
    const other = await start(copy, sleep);
    const later = Number(await startTimeOf(other.pid ?? 0)) + 1;
    expect(await end({ owner: { ...owner, startTime: String(later) } })).toBe('gone');
    expect(await end({ owner: { ...owner, bootId: 'of another boot' } })).toBe('gone');
    expect(isAlive(other)).toBe(true);
  });

  it('a process that has the file of the lock open, and not the lock', async () => {
    const file = openSync(agentLock, 'r');
    const other = await start('/', sleep, ['ignore', 'ignore', 'ignore', file]);
    closeSync(file);
    expect(await end()).toBe('gone');
    expect(isAlive(other)).toBe(true);
  });

  it('a process whose number was the agent’s once', async () => {
    const other = await start('/', sleep);
    const agent = { pid: other.pid ?? 0, startTime: '1', cgroup: '', containment: 'none' as const };
    expect(await end({ agent })).toBe('gone');
    expect(isAlive(other)).toBe(true);
  });

  it('somebody at a terminal who looks at the copy: then nothing is touched', async () => {
    const file = join(folder, 'pid');
    await start('/', ['script', '-qc', `cd ${copy}; echo $$ >${file}; exec sleep 1000`, '/dev/null']);
    const pid = await until(
      'a shell is there',
      async () => existsSync(file) && readFileSync(file, 'utf8').trim(),
    );
    expect(await end({ waitMs: 0 })).toBe('still_there');
    expect(existsSync(`/proc/${pid}/exe`)).toBe(true);
  });
});

describe('what cannot be seen counts as alive', () => {
  it('a lock that somebody holds whom no search finds', async () => {
    const held = await lockForAgent(agentLock);
    expect(await end({ waitMs: 0 })).toBe('still_there');
    await held?.close();
    expect(await end()).toBe('gone');
  });

  it('a process that ends only with force is ended, and is gone when the answer comes', async () => {
    const other = await start(copy, ['sh', '-c', 'trap "" INT TERM HUP; while :; do sleep 1; done']);
    expect(await end()).toBe('gone');
    expect(isAlive(other)).toBe(false);
  });

  it('a search in the /proc of another pid namespace', { timeout: 60_000 }, async () => {
    const other = await start(copy, sleep);
    const program = [process.execPath, builtProgram('orphan-ender'), JSON.stringify(orphan())];
    const unshare = ['--user', '--map-root-user', '--pid', '--fork', ...program];
    expect(execFileSync('unshare', unshare).toString()).toBe('still_there');
    expect(isAlive(other)).toBe(true);
  });

  it('a /proc that hides processes', () => {
    const line = (options: string) => `21 26 0:20 / /proc rw,relatime - proc proc ${options}`;
    const status = 'Name:\tnode\nNSpid:\t42\n';
    expect(judgeProcView(line('rw'), status, 42)).toBe('whole');
    expect(judgeProcView(line('rw,hidepid=off'), status, 42)).toBe('whole');
    for (const hiding of ['hidepid=2', 'hidepid=invisible', 'gid=4,hidepid=ptraceable'])
      expect(judgeProcView(line(`rw,${hiding}`), status, 42)).toBe('hidden_processes');
    expect(judgeProcView(`${line('rw')}\n${line('rw,hidepid=1')}`, status, 42)).toBe('hidden_processes');
    expect(judgeProcView('', status, 42)).toBe('hidden_processes');
    expect(judgeProcView(line('rw'), 'NSpid:\t4242\t42\n', 42)).toBe('other_namespace');
    expect(judgeProcView(line('rw'), '', 42)).toBe('other_namespace');
  });
});
