/**
 * A supervisor in a process of its own, for the tests that kill it. Arguments: data folder, remote, level; `frozen`
 * where it is to be killed while its agent stands still.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseNamespace } from '../../../../lanes/namespaces.ts';
import { probeContainment } from '../../../../lanes/work/containment.ts';
import { createCopy } from '../../../../lanes/work/copy.ts';
import { syncMirror } from '../../../../lanes/work/mirror.ts';
import { runTree } from '../../../../lanes/work/process-tree.ts';
import { openWorkplace } from '../../../../lanes/work/workplace.ts';
import { until } from '../../../support/until.ts';

const [dataDir = '', remote = '', level = '', how] = process.argv.slice(2);
const { signal } = new AbortController();
const place = await openWorkplace({ dataDir, instance: 'supervisor', now: Date.now, id: randomUUID });
const synced = await syncMirror(place, { repositoryId: 7, cloneUrl: `file://${remote}` }, signal);
if (synced.kind !== 'synced') throw new Error(synced.kind);
const whose = {
  task: 'task0000001',
  namespace: parseNamespace('lane:triage'),
  run: 1,
  fence: 1,
  repositoryId: 7,
};
const copy = await createCopy(place, { ...whose, base: synced.base, branch: synced.branch }, signal);
const { work, io, agentLock, ownerLock } = copy.paths;
const containment = (await probeContainment(dataDir)).find((one) => one.level === level);
const loop = 'while :; do date +%s%N >still-written; sleep 0.01; done';
const argv = ['/bin/sh', '-c', `setsid sh -c '${loop}' & ${loop}`];
const about = {
  cwd: work,
  env: { PATH: '/usr/bin:/bin' },
  copyDir: work,
  ioDir: io,
  expose: [],
  hide: [dataDir],
};
const command = await containment?.contain({ argv, ...about });
if (!command || !containment) throw new Error(`no ${level}`);
await runTree({
  ...{ command, level: containment.level, marker: copy.id, folders: [work, io], agentLock },
  ...{ timeoutMs: 60_000, graceMs: 100, signal },
  spawned: async () => {
    process.stdout.write(`${JSON.stringify({ id: copy.id, ownerLock, agentLock, work })}\n`);
  },
  killIntent: async () => {},
  beside: async (tree) => {
    if (how !== 'frozen') return;
    await until('it writes', async () => existsSync(join(work, 'still-written')));
    await tree.freeze();
    process.stdout.write('frozen\n');
  },
});
