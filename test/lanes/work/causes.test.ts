import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import type { MachineEvent } from '../../../lanes/records/machine-events.ts';
import { ownIdentity, startTimeOf } from '../../../lanes/work/identity.ts';
import { memoryKills } from '../../../lanes/work/memory-kills.ts';
import type { SupervisorDeps } from '../../../lanes/work/run-room.ts';
import { superviseRun } from '../../../lanes/work/supervisor.ts';
import { killWasIntended, noteWorkerKill } from '../../../lanes/work/worker-kill.ts';
import { until } from '../../support/until.ts';
import { contained, makeLane, makeSetting } from './run-support.ts';
import { temporaryFolder } from './support.ts';

function linesOf(dataDir: string): string[] {
  const folder = join(dataDir, 'ledger');
  return readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'));
}

const eventsOf = (dataDir: string): MachineEvent[] =>
  linesOf(dataDir).map((line) => JSON.parse(line) as MachineEvent);

const agent = (...run: string[]) => makeLane({ agent: { kind: 'command', run } });

test.runIf(contained)('each end of an agent has its cause', { timeout: 120_000 }, async () => {
  const setting = await makeSetting();
  const { order, place } = setting;
  const lost = new AbortController();
  const deps: SupervisorDeps = {
    ...setting.deps,
    begin: async ({ run }) => {
      if (run !== 6) return;
      const begun = async () =>
        linesOf(place.dataDir).some((line) => /"run":6\b/.test(line) && line.includes('run_started'));
      void until('its agent runs', begun).then(() => lost.abort('lease_lost'));
    },
  };
  const lanes = [
    agent('sh', '-c', 'exit 0'),
    agent('sh', '-c', 'exit 7'),
    agent('sh', '-c', 'kill -KILL $$'),
    agent('sh', '-c', 'kill -TERM $$'),
    { ...agent('sleep', '60'), timeoutMinutes: 0.005 },
    agent('sleep', '60'),
    agent('/no/such/program'),
  ];
  for (const [i, lane] of lanes.entries())
    await superviseRun(deps, order({ lane, run: i + 1, ...(i === 5 ? { signal: lost.signal } : {}) }));
  const events = eventsOf(place.dataDir);
  const exits = events.filter((event) => event.event === 'run_exited');
  expect(exits.map(({ run, cause, exitCode }) => [run, cause, exitCode])).toEqual([
    [1, 'exit', 0],
    [2, 'exit', 7],
    [3, 'unattributed', undefined],
    [4, 'signal', undefined],
    [5, 'timeout', undefined],
    [6, 'lease_lost', undefined],
    [7, 'spawn_failed', undefined],
  ]);
  // Nothing of ours is killed without its intent before it.
  for (const run of [5, 6]) {
    const story = events.flatMap((event) => ('run' in event && event.run === run ? [event.event] : []));
    expect(story.indexOf('kill_intent')).toBeGreaterThan(story.indexOf('run_started'));
    expect(story.indexOf('kill_intent')).toBeLessThan(story.indexOf('run_exited'));
  }
});

describe('memory kills', () => {
  it('are read from the group of cgroup v2, and null where it does not tell', async () => {
    const root = temporaryFolder();
    mkdirSync(join(root, 'user.slice/a'), { recursive: true });
    writeFileSync(join(root, 'user.slice/a/memory.events'), 'low 0\noom 9\noom_kill 4\noom_group_kill 1\n');
    expect(await memoryKills('0::/user.slice/a', root)).toBe(4);
    expect(await memoryKills('0::/user.slice/a/../a', root)).toBeNull();
    expect(await memoryKills('0::/user.slice', root)).toBeNull();
    expect(await memoryKills('4:memory:/user.slice/a', root)).toBeNull();
    expect(await memoryKills('', root)).toBeNull();
  });
});

describe('a kill of a whole worker', () => {
  const at = Date.parse('2026-08-16T23:59:00Z');
  const week = { fromMs: at - 1_000, toMs: at + 1_000 };
  const kill = { instance: 'worker-a', signal: 'SIGKILL', why: 'it did not end in time', atMs: at } as const;

  it('is told from others by pid, start time and boot', async () => {
    const dataDir = temporaryFolder();
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    const pid = child.pid ?? 0;
    const { bootId } = await ownIdentity();
    const owner = { pid, startTime: (await startTimeOf(pid)) ?? '', bootId };
    expect(await killWasIntended(dataDir, owner, week)).toBe(false);
    await noteWorkerKill(dataDir, { ...kill, pid });
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(eventsOf(dataDir)).toMatchObject([{ event: 'worker_kill_intent', ...owner, why: kill.why }]);
    expect(await killWasIntended(dataDir, owner, week)).toBe(true);
    expect(await killWasIntended(dataDir, { ...owner, startTime: '1' }, week)).toBe(false);
    expect(await killWasIntended(dataDir, { ...owner, bootId: 'b' }, week)).toBe(false);
    // Found in the week before, where the look begins there.
    const later = { fromMs: at - 60_000, toMs: at + 86_400_000 };
    expect(await killWasIntended(dataDir, owner, later)).toBe(true);
  });

  it('of one that is gone already needs no intent', async () => {
    const dataDir = temporaryFolder();
    const child = spawn('true');
    await once(child, 'exit');
    await noteWorkerKill(dataDir, { ...kill, pid: child.pid ?? 0 });
    expect(readdirSync(dataDir)).toEqual([]);
  });
});
