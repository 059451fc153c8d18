/**
 * A supervisor that runs one agent of every kind at one level, to be killed. Arguments: data folder, remote, level, the
 * agent's script, then the kinds. It prints one JSON line per run once its agent is noted.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { parseNamespace } from '../../../../lanes/namespaces.ts';
import { probeContainment } from '../../../../lanes/work/containment.ts';
import { createCopy, markRunning } from '../../../../lanes/work/copy.ts';
import { syncMirror } from '../../../../lanes/work/mirror.ts';
import { runTree } from '../../../../lanes/work/process-tree.ts';
import { openWorkplace } from '../../../../lanes/work/workplace.ts';

const [dataDir = '', remote = '', level = '', script = '', ...kinds] = process.argv.slice(2);
const { signal } = new AbortController();
const place = await openWorkplace({ dataDir, instance: 'supervisor', now: Date.now, id: randomUUID });
const synced = await syncMirror(place, { repositoryId: 7, cloneUrl: `file://${remote}` }, signal);
const containment = (await probeContainment(dataDir)).find((one) => one.level === level);
if (synced.kind !== 'synced' || !containment) throw new Error(`${synced.kind} ${level}`);
const { base, branch } = synced;
const namespace = parseNamespace('lane:triage');
const whose = { task: 'task0000001', namespace, run: 1, fence: 1, repositoryId: 7, base, branch };

async function supervise(kind: string): Promise<void> {
  const copy = await createCopy(place, whose, signal);
  const { work, io, agentLock } = copy.paths;
  const name = `orphan-${copy.id}`;
  const command = await containment?.contain({
    argv: ['/bin/sh', script, kind, join(work, 'canary'), name],
    ...{ cwd: work, env: { PATH: '/usr/bin:/bin' }, copyDir: work, ioDir: io, expose: [], hide: [dataDir] },
  });
  if (!command || !containment) throw new Error(`no ${level}`);
  await runTree({
    ...{ command, level: containment.level, marker: copy.id, folders: [work, io], agentLock },
    ...{ timeoutMs: 600_000, graceMs: 100, signal },
    spawned: async (agent) => {
      await markRunning(copy, agent);
      process.stdout.write(`${JSON.stringify({ kind, name, record: copy.record, paths: copy.paths })}\n`);
    },
    killIntent: async () => {},
  });
}

await Promise.all(kinds.map(supervise));
