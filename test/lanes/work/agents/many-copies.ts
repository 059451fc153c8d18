/**
 * An owner of several copies in a process of its own, for tests that kill it. Arguments: remote, instance, then for each
 * data folder `<folder>:<state>,<state>…`, how far its copies are: `ready` (no agent was started), `worked` (an agent
 * wrote, and is gone) or `captured`. Prints their ids as JSON, a list for each folder, and waits.
 */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseNamespace } from '../../../../lanes/namespaces.ts';
import { captureResult } from '../../../../lanes/work/capture.ts';
import { createCopy, markRunning } from '../../../../lanes/work/copy.ts';
import { syncMirror } from '../../../../lanes/work/mirror.ts';
import { openWorkplace } from '../../../../lanes/work/workplace.ts';

const [remote = '', instance = '', ...folders] = process.argv.slice(2);
const { signal } = new AbortController();
const namespace = parseNamespace('lane:triage');

async function fillFolder(dataDir: string, states: readonly string[]): Promise<string[]> {
  const place = await openWorkplace({ dataDir, instance, now: Date.now, id: randomUUID });
  const synced = await syncMirror(place, { repositoryId: 7, cloneUrl: `file://${remote}` }, signal);
  if (synced.kind !== 'synced') throw new Error(synced.kind);
  const { base, branch } = synced;
  const ids: string[] = [];
  for (const [i, state] of states.entries()) {
    const task = `task000000${i}`;
    const request = { task, namespace, run: 1, fence: 1, repositoryId: 7, base, branch };
    const copy = await createCopy(place, request, signal);
    ids.push(copy.id);
    if (state === 'ready') continue;
    // A pid that no system gives: the agent is gone.
    await markRunning(copy, { pid: 2 ** 30, startTime: '1', cgroup: '', containment: 'none' });
    writeFileSync(join(copy.paths.work, 'work.txt'), `what the agent did in ${task}\n`);
    if (state === 'captured') await captureResult(place, copy, 'none');
  }
  return ids;
}

const ids: string[][] = [];
for (const folder of folders) {
  const [dataDir = '', states = ''] = folder.split(':');
  ids.push(await fillFolder(dataDir, states.split(',')));
}
process.stdout.write(`${JSON.stringify(ids)}\n`);
setInterval(() => {}, 60_000);
