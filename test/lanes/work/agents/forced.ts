/**
 * An owner or a reaper in a process of its own, which stops, kills or blocks itself at a named point. Argument: a `Start`
 * as JSON. Each line on stdin is an `Order`; a line on stdout says that the point is reached, or how it ended.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { parseNamespace } from '../../../../lanes/namespaces.ts';
import { captureResult } from '../../../../lanes/work/capture.ts';
import type { Containment } from '../../../../lanes/work/containment.ts';
import { createCopy } from '../../../../lanes/work/copy.ts';
import { removeCopy } from '../../../../lanes/work/removal.ts';
import { containedRunner } from '../../../../lanes/work/run-contained.ts';
import { sweepCopies } from '../../../../lanes/work/sweep/index.ts';
import { openWorkplace } from '../../../../lanes/work/workplace.ts';

export interface Start {
  role: 'owner' | 'reaper';
  dataDir: string;
  instance: string;
  base: string;
  branch: string;
  /** Where agents acknowledge their work, outside of everything that a sweep removes. */
  acks: string;
}

export interface Order {
  point: string;
  /** `block` reads from the FIFO `fifo`, so that nothing else of the process runs. */
  how: 'SIGSTOP' | 'SIGKILL' | 'block' | 'nothing';
  fifo?: string;
  /** The agent stays after its work is done. */
  stays?: boolean;
}

const start: Start = JSON.parse(process.argv[2] ?? '');
const say = (line: object) => writeSync(1, `${JSON.stringify(line)}\n`);
let order: Order = { point: '', how: 'nothing' };
let id = '';

async function at(point: string): Promise<void> {
  if (point !== order.point) return;
  // The agent's work is acknowledged before its supervisor is hit.
  while (point === 'run.spawned' && !existsSync(join(start.acks, id))) await delay(10);
  say({ at: point, id });
  if (order.how === 'block') readFileSync(order.fifo ?? '');
  if (order.how === 'SIGSTOP' || order.how === 'SIGKILL') process.kill(process.pid, order.how);
  // The signal is for the whole process and may reach it a moment later.
  await delay(50);
}

const place = await openWorkplace({
  ...{ dataDir: start.dataDir, instance: start.instance, now: Date.now, point: at },
  id: () => {
    id = randomUUID();
    return id;
  },
});
const bare: Containment = {
  level: 'none',
  contain: async ({ argv: [file = '', ...args], env, cwd }) => ({ file, args, env: { ...env }, cwd }),
};
const { signal } = new AbortController();

async function live(): Promise<void> {
  const { base, branch } = start;
  const whose = { task: 'task0000001', namespace: parseNamespace('lane:triage'), run: 1, fence: 1 };
  const copy = await createCopy(place, { ...whose, repositoryId: 7, base, branch }, signal);
  await place.point('run.prespawn');
  const run = containedRunner({ place, hide: [], graceMs: 200 }, bare, copy);
  const work = `echo "work of ${copy.id}" >work.txt; echo >"${join(start.acks, copy.id)}"`;
  await run({
    argv: ['/bin/sh', '-c', order.stays ? `${work}; exec sleep 1000` : work],
    ...{ workDir: copy.paths.work, ioDir: copy.paths.io, readableDirs: [], stdinFile: null },
    ...{ env: { PATH: '/usr/bin:/bin' }, timeoutMs: 600_000, signal, isAgent: true },
  });
  await captureResult(place, copy, 'none');
  const { kind } = await removeCopy(place, copy.lock, copy);
  say({ end: kind, id: copy.id });
}

async function reap(): Promise<void> {
  say({ end: 'swept', uuid: place.owner.uuid, outcomes: await sweepCopies({ place }) });
}

say({ ready: place.owner.uuid });
for await (const line of createInterface(process.stdin)) {
  order = JSON.parse(line);
  await (start.role === 'owner' ? live() : reap());
}
