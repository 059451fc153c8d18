import { existsSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { isContained } from '../../../../lanes/work/containment/levels.ts';
import { probeContainment } from '../../../../lanes/work/containment.ts';
import { tryLock } from '../../../../lanes/work/lock.ts';
import { findCgroup, killCgroup, removeCgroup } from '../../../../lanes/work/process-tree/cgroup.ts';
import { until } from '../../../support/until.ts';
import { temporaryFolder } from '../support.ts';
import { endRun, type OrphanRun, orphansOf, processesOf } from './support.ts';

const levels = (await probeContainment(temporaryFolder())).map(({ level }) => level);

/** See agents/orphan.sh. */
const kinds = [
  ...['plain', 'daemon', 'session', 'ignores', 'stopped', 'cleared', 'locked'],
  ...['traceless', 'hopper'],
];
/** Their supervisor died before it noted who the agent is. */
const unnoted = ['daemon', 'traceless'];

let runs: OrphanRun[] = [];

/** Whatever a failed test left. */
afterEach(async () => {
  for (const run of runs.splice(0)) {
    const cgroup = await findCgroup(run.record.id, run.record.agent?.cgroup ?? '');
    if (cgroup) await killCgroup(cgroup);
    for (const pid of processesOf(run)) process.kill(pid, 'SIGKILL');
    await until('nobody is left', async () => cgroup === null || (await removeCgroup(cgroup)));
  }
});

describe.each(levels)('at level %s', (level) => {
  it('agents whose supervisor was killed are gone when endOrphan says so', { timeout: 240_000 }, async () => {
    runs = await orphansOf(level, kinds);
    expect(runs.map(({ record }) => record.agent?.containment)).toEqual(kinds.map(() => level));
    // These go with the supervisor: nobody has searched for them yet.
    const byThemselves = isContained(level) ? ['ignores', 'stopped', 'traceless', 'hopper'] : ['plain'];
    for (const run of runs.filter(({ kind }) => byThemselves.includes(kind))) {
      await until(`${run.kind} ends by itself`, async () => processesOf(run).length === 0);
    }
    const found: Record<string, [string, number]> = {};
    for (const run of runs) {
      const { id, agent } = run.record;
      const lock = await tryLock(run.paths.ownerLock);
      expect(lock?.held, run.kind).toBe(true);
      if (unnoted.includes(run.kind)) run.record.agent = null;
      found[run.kind] = [await endRun(run), processesOf(run).length];
      await lock?.release();
      const cgroup = await findCgroup(id, agent?.cgroup ?? '');
      if (cgroup) expect(existsSync(cgroup.folder), run.kind).toBe(false);
    }
    const expected = Object.fromEntries(kinds.map((kind) => [kind, ['gone', 0]]));
    // Without a pid namespace or a control group, nothing tells this one from an innocent process.
    if (level === 'none') expected.traceless = ['gone', 1];
    expect(found).toEqual(expected);
  });
});
