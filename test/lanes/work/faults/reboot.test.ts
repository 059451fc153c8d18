import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Engine } from '../../../../lanes/index.ts';
import { captureWork } from '../../../../lanes/work/capture.ts';
import { bringBackPatch } from '../../../../lanes/work/earlier-patch.ts';
import { outboxPaths, readReceipt } from '../../../../lanes/work/outbox.ts';
import { superviseRun } from '../../../../lanes/work/supervisor.ts';
import { sweepCopies } from '../../../../lanes/work/sweep/index.ts';
import { openWorkplace, type Workplace } from '../../../../lanes/work/workplace.ts';
import { testEngine } from '../../../support/engine.ts';
import { callerNamed, lane as namespace, newTask } from '../../../support/tasks.ts';
import { until } from '../../../support/until.ts';
import { useEngine } from '../../../support/use-engine.ts';
import { agentRun, makeLane, makeSetting, type RunSetting } from '../run-support.ts';
import { makeCopy, makePlace, makeRemote, put, temporaryFolder } from '../support.ts';
import { makeStepper, untilThere } from './support.ts';

const caller = callerNamed('worker-a');
const app = callerNamed('app');

let engine: Engine;
let url: string;
useEngine((opened) => {
  engine = opened.engine;
  url = opened.server.url;
});

async function claim(id: string, by: Engine) {
  const claimed = await by.claim(caller, namespace, id);
  if (claimed.kind !== 'claimed') throw new Error(claimed.kind);
  await by.begin(caller, claimed.lease);
  return claimed;
}

/** With a lease that ends soon, as nobody is left to renew it. */
async function claimForAMoment(id: string) {
  const brief = testEngine(url, { leaseTtlMs: 2_000 });
  try {
    return await claim(id, brief);
  } finally {
    await brief.close();
  }
}

/** The data folder as a machine that lost its power left it, under a worker that was started after the reboot. */
async function afterReboot(place: Workplace): Promise<Workplace> {
  const dataDir = join(temporaryFolder(), 'data');
  execFileSync('cp', ['-a', place.dataDir, dataDir]);
  return await openWorkplace({ dataDir, instance: 'worker-a', now: () => 5_000, id: randomUUID });
}

/** A run in the middle of its work, on a machine under another boot id, until its power goes. */
async function runUntilPowerCut(setting: RunSetting, id: string): Promise<Workplace> {
  const { owner } = setting.place;
  const place = { ...setting.place, owner: { ...owner, bootId: randomUUID() } };
  const stepper = makeStepper();
  const deps = { ...setting.deps, place, checkpoints: stepper.pace };
  const lane = makeLane({
    agent: { kind: 'command', run: agentRun('hangs') },
    writes: true,
    containment: 'none',
  });
  const power = new AbortController();
  const { task, lease } = await claimForAMoment(id);
  const running = superviseRun(deps, { task, lease, lane, signal: power.signal });
  await until('it works', async () => readdirSync(place.workDir).length > 0);
  const [copy = ''] = readdirSync(place.workDir);
  await untilThere(place.workDir, copy, 'half-done.txt');
  await stepper.step();
  appendFileSync(join(place.workDir, copy, 'half-done.txt'), 'after the checkpoint\n');
  const after = await afterReboot(place);
  power.abort('lease_lost');
  await running;
  return after;
}

test('a run that a reboot ended is salvaged, marked, and retried from the salvage', {
  timeout: 120_000,
}, async () => {
  const setting = await makeSetting();
  const { id } = await engine.admit(app, newTask());
  const place = await runUntilPowerCut(setting, id);
  // The keeper: the lease ends without a word from the worker.
  await until('the lease ends', async () => (await engine.repair(app, namespace)).expired.length > 0);
  expect(await sweepCopies({ place })).toMatchObject([
    { outcome: 'removed', reason: 'dead_owner_salvaged', why: expect.stringContaining('started again') },
  ]);
  const [tombstone = ''] = readdirSync(place.tombstonesDir);
  const copy = tombstone.replace('.json', '');
  expect(await readReceipt(place, copy, 'salvage')).toMatchObject({ tornPossible: true, run: 1 });
  // What was durable before the power went is kept beside files that may be cut short.
  const { patch } = outboxPaths(place, copy, 'checkpoint');
  expect(readFileSync(patch, 'utf8')).toContain('half of the work');

  await engine.retry(app, namespace, id);
  const { task, lease } = await claim(id, engine);
  const lane = makeLane({
    agent: { kind: 'command', run: agentRun('tells') },
    writes: true,
    containment: 'none',
  });
  const deps = { ...setting.deps, place };
  const end = await superviseRun(deps, { task, lease, lane, signal: new AbortController().signal });
  if (end.kind !== 'result') throw new Error(JSON.stringify(end));
  expect(readFileSync(outboxPaths(place, end.patch?.copy ?? '').patch, 'utf8')).toContain(
    '+after the checkpoint',
  );
  const parked = await engine.record(caller, lease, task, end);
  expect(parked).toMatchObject({ state: 'parked', run: 2 });
  expect(parked.notices).toEqual([expect.stringContaining('the last files of its work may be cut short')]);
});

test('of one copy its result counts before what was salvaged, and that before its checkpoint', {
  timeout: 120_000,
}, async () => {
  const place = await makePlace();
  const remote = makeRemote({ 'a.txt': 'a\n' });
  const { task } = (await makeSetting()).order({ lane: makeLane({}) });
  const first = await makeCopy(place, remote);
  const capture = async (kind: 'checkpoint' | 'salvage' | 'result', content: string) => {
    put(first.paths.work, 'work.txt', content);
    return await captureWork(place, first, { kind, containment: 'none', tornPossible: false });
  };
  const broughtBack = async () => {
    const next = await makeCopy(place, remote);
    const { notices } = await bringBackPatch(place, next, task);
    const path = join(next.paths.work, 'work.txt');
    return { work: readFileSync(path, 'utf8'), notices };
  };
  // In the wrong order of time: the kind decides.
  await capture('checkpoint', 'checkpoint\n');
  expect(await broughtBack()).toEqual({
    work: 'checkpoint\n',
    notices: [expect.stringContaining('a checkpoint is left')],
  });
  await capture('result', 'result\n');
  await capture('salvage', 'salvage\n');
  await capture('checkpoint', 'later\n');
  expect(await broughtBack()).toEqual({ work: 'result\n', notices: [] });
});
