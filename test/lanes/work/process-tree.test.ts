import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { AgentProcess } from '../../../lanes/records/copies.ts';
import { type Containment, probeContainment } from '../../../lanes/work/containment.ts';
import type { Copy } from '../../../lanes/work/copy.ts';
import { lockForAgent } from '../../../lanes/work/lock.ts';
import { findRun } from '../../../lanes/work/process-tree/find.ts';
import { runTree, type TreeRequest } from '../../../lanes/work/process-tree.ts';
import type { Workplace } from '../../../lanes/work/workplace.ts';
import { builtProgram } from '../../support/programs.ts';
import { forever, makeCopy, makePlace, makeRemote, put, temporaryFolder } from './support.ts';

const program = (name: string) => fileURLToPath(new URL(`agents/${name}`, import.meta.url));
const levels = await probeContainment(temporaryFolder());

let place: Workplace;
let copy: Copy;
const told: string[] = [];
const agents: AgentProcess[] = [];

beforeEach(async () => {
  place = await makePlace();
  copy = await makeCopy(place, makeRemote({ 'a.txt': 'a' }));
  told.length = 0;
  agents.length = 0;
});

type Changes = Partial<TreeRequest>;

async function run(containment: Containment, argv: string[], changes: Changes = {}) {
  const { work, io, agentLock } = copy.paths;
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin' };
  const about = { cwd: work, env, copyDir: work, ioDir: io, expose: [], hide: [place.dataDir] };
  const command = await containment.contain({ argv, ...about });
  return await runTree({
    ...{ command, level: containment.level, marker: copy.id, folders: [work, io], agentLock },
    ...{ timeoutMs: 30_000, graceMs: 200, signal: forever },
    spawned: async (agent) => void agents.push(agent),
    killIntent: async (signal, why) => void told.push(`${signal} ${why}`),
    ...changes,
  });
}

/** Nobody of the run is alive: neither by its traces nor by the lock that the tree inherited. */
async function expectGone(): Promise<void> {
  const { work, io, agentLock } = copy.paths;
  const traces = {
    marker: copy.id,
    group: -1,
    folders: [work, io],
    descriptors: new Set([agentLock]),
    since: 0,
  };
  expect(await findRun(traces)).toEqual([]);
  const lock = await lockForAgent(agentLock);
  expect(lock).not.toBeNull();
  await lock?.close();
}

const kinds = ['marked', 'inCopy', 'child'];

/** Whether a child that wrote its number is alive; the number means something here only without containment. */
function isAlive(kind: string): boolean {
  const pid = Number(readFileSync(join(copy.paths.io, kind), 'utf8'));
  return existsSync(`/proc/${pid}/exe`);
}

async function waitForFiles(...paths: string[]): Promise<void> {
  for (const path of paths)
    await vi.waitFor(() => expect(existsSync(path), path).toBe(true), { timeout: 30_000 });
}

const inCopy = (name: string) => join(copy.paths.work, name);

describe.each(levels.map((one) => [one.level, one] as const))('at level %s', (level, containment) => {
  it('an exit code comes back, with what was said', async () => {
    put(copy.paths.io, 'prompt', 'hello\n');
    const stdinFile = join(copy.paths.io, 'prompt');
    const result = await run(containment, ['/bin/sh', '-c', 'cat; echo bad >&2; exit 7'], { stdinFile });
    expect(result).toMatchObject({
      ending: { kind: 'exit', code: 7 },
      stdout: { text: 'hello\n' },
      stderr: { text: 'bad\n' },
    });
    expect(agents).toMatchObject([{ containment: level }]);
    expect(told).toEqual([]);
    await expectGone();
  });

  it('a stop interrupts, waits, then kills children of every kind', async () => {
    const stop = new AbortController();
    const argv = [process.execPath, program('stubborn.mjs'), copy.paths.io, 'stay', ...kinds];
    const running = run(containment, argv, { signal: stop.signal, graceMs: 1_000 });
    await waitForFiles(inCopy('ready'), ...kinds.map((kind) => join(copy.paths.io, kind)));
    stop.abort('lease lost');
    expect((await running).ending).toEqual({ kind: 'stopped', why: 'lease lost' });
    expect(told).toEqual(['SIGINT stopped', 'SIGKILL stopped']);
    expect(existsSync(inCopy('interrupted'))).toBe(true);
    if (level === 'none') for (const kind of kinds) expect(isAlive(kind), kind).toBe(false);
    await expectGone();
  });

  it('a deadline ends an agent that hangs', async () => {
    const result = await run(containment, ['/bin/sleep', '1000'], { timeoutMs: 300 });
    expect(result.ending).toEqual({ kind: 'timeout', afterMs: 300 });
    expect(told[0]).toBe('SIGINT timeout');
    await expectGone();
  });

  it('an agent that exits and leaves daemons behind has none when the answer comes', async () => {
    // Without containment, an orphan with no trace at all cannot be found; these have one each.
    const left = ['marked', 'inCopy'];
    const script = '"$0" "$@"; while ! [ -s "$2/marked" -a -s "$2/inCopy" ]; do sleep 0.01; done';
    const argv = ['/bin/sh', '-c', script, process.execPath, program('stubborn.mjs'), copy.paths.io, ...left];
    const result = await run(containment, argv);
    expect(result.ending).toEqual({ kind: 'exit', code: 0 });
    if (level === 'none') for (const kind of left) expect(isAlive(kind), kind).toBe(false);
    await expectGone();
  });

  it('an agent that ends on SIGINT needs no kill', async () => {
    const stop = new AbortController();
    const script = 'trap "exit 3" INT; : >ready; while :; do sleep 0.01; done';
    const running = run(containment, ['/bin/sh', '-c', script], { signal: stop.signal, graceMs: 20_000 });
    await waitForFiles(inCopy('ready'));
    stop.abort('cancelled by a person');
    expect((await running).ending).toEqual({ kind: 'stopped', why: 'cancelled by a person' });
    expect(told[0]).toBe('SIGINT stopped');
    await expectGone();
  });

  it('endless output neither block nor stay in memory', async () => {
    const before = process.memoryUsage().rss;
    const script = 'head -c 300000000 /dev/zero; echo end; echo e >&2';
    const result = await run(containment, ['/bin/sh', '-c', script]);
    expect(result.stdout.bytes).toBe(300_000_004);
    expect(result.stdout.text.endsWith('end\n')).toBe(true);
    expect(result.stdout.text.length).toBe(64 * 1024);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  });

  it('a signal is told from an exit', async () => {
    const result = await run(containment, ['/bin/sh', '-c', 'kill -KILL $$']);
    expect(result.ending).toEqual({ kind: 'signal', signal: 'SIGKILL' });
  });

  it('an agent that forks without end is ended', async () => {
    const script =
      'f() { sleep 5 & sleep 5 & }; i=0; while [ $i -lt 40 ]; do f; (setsid sleep 60 &); i=$((i+1)); done; : >ready; sleep 60';
    const result = await run(containment, ['/bin/sh', '-c', script], { timeoutMs: 1_000, graceMs: 50 });
    expect(result.ending.kind).toBe('timeout');
    await expectGone();
  });

  it('an error while the start is recorded ends the run and is thrown', async () => {
    const spawned = () => Promise.reject(new Error('disk full'));
    await expect(run(containment, ['/bin/sleep', '1000'], { spawned })).rejects.toThrow('disk full');
    await expectGone();
  });
});

it('a stray descriptor of whoever started us does not reach an agent', async () => {
  const folder = temporaryFolder();
  put(folder, 'stray', 'of somebody else');
  const stray = openSync(join(folder, 'stray'), 'r');
  const gap = Array.from({ length: 37 }, () => 'ignore' as const);
  const worker = spawn(process.execPath, [builtProgram('with-stray'), folder], {
    stdio: ['ignore', 'pipe', 'inherit', ...gap, stray],
  });
  closeSync(stray);
  if (!worker.stdout) throw new Error('no output');
  const seen = await text(worker.stdout);
  expect(seen).toContain(join(folder, 'agent.lock'));
  expect(seen).not.toContain(join(folder, 'stray'));
});

it('a program that cannot be started is an ending, not a crash', async () => {
  const command = { file: '/no/such/program', args: [], env: {}, cwd: '/' };
  const [none] = levels.slice(-1);
  if (!none) throw new Error('no level');
  const result = await run(none, ['/bin/true'], { command });
  expect(result.ending).toEqual({ kind: 'spawn_failed', why: 'ENOENT' });
});

it('a run that was stopped before it began starts nothing', async () => {
  const [none] = levels.slice(-1);
  if (!none) throw new Error('no level');
  const result = await run(none, ['/bin/true'], { signal: AbortSignal.abort('shutdown') });
  expect(result.ending).toEqual({ kind: 'stopped', why: 'shutdown' });
  expect(agents).toEqual([]);
});
