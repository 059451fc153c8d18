import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { captureResult } from '../../../../lanes/work/capture.ts';
import { type Copy, markRunning } from '../../../../lanes/work/copy.ts';
import { lockForAgent } from '../../../../lanes/work/lock.ts';
import { outboxPaths, readReceipt } from '../../../../lanes/work/outbox.ts';
import { discardCopy, exportCopy, releaseCopy } from '../../../../lanes/work/sweep/by-hand.ts';
import { planSweep, sweepCopies } from '../../../../lanes/work/sweep/index.ts';
import { listCopies } from '../../../../lanes/work/sweep/list.ts';
import type { Workplace } from '../../../../lanes/work/workplace.ts';
import { put, sh } from '../support.ts';
import { makeScene, patchOf, type Scene } from './scene.ts';
import { eventsOf, leftOf, tombstoneOf } from './support.ts';

let scene: Scene;
let place: Workplace;
beforeAll(async () => {
  scene = await makeScene();
  place = scene.place;
}, 120_000);
afterEach(() => {
  // Whatever a test kept on purpose must not be in the next one's way.
  for (const folder of [place.ctlDir, place.workDir, place.graveDir])
    sh(folder, 'find', folder, '-mindepth', '1', '-delete');
  const pins = sh(
    join(place.mirrorsDir, '7.git'),
    'git',
    'for-each-ref',
    '--format=delete %(refname)',
    'refs/lanekeeper/',
  );
  for (const line of pins.split('\n').filter(Boolean)) {
    sh(join(place.mirrorsDir, '7.git'), 'git', 'update-ref', '-d', line.slice('delete '.length));
  }
});
afterAll(() => scene.close());

const agent = { pid: 2 ** 22 + 2, startTime: '1', cgroup: '', containment: 'bwrap' as const };

async function ran(copy: Copy): Promise<void> {
  await markRunning(copy, agent);
  put(copy.paths.work, 'work.txt', `work of ${copy.id}\n`);
}

function edit(copy: Copy, change: (record: { owner: object }) => object): void {
  const record = JSON.parse(readFileSync(copy.paths.record, 'utf8'));
  put(copy.paths.ctl, 'record.json', JSON.stringify(change(record)), 0o600);
}

const deathOf = (id: string) => eventsOf(place, id).find(({ event }) => event === 'run_exited');
const events = (id: string) => eventsOf(place, id).map(({ event }) => event);

describe('a copy of a dead owner', () => {
  it('with uncaptured work: what the plan says is done, and the tombstone tells all of it', async () => {
    const copy = await scene.deadCopy(ran);
    sh(copy.paths.work, 'git', 'stash', '--include-untracked');
    put(copy.paths.work, 'work.txt', 'later work\n');
    const plan = await planSweep({ place });
    expect(plan).toMatchObject([{ id: copy.id, step: 'salvage', record: { state: 'running' } }]);
    expect(readdirSync(copy.paths.ctl)).not.toContain('takeover.json');
    const outcomes = await sweepCopies({ place });
    expect(outcomes).toMatchObject([{ ...plan[0], outcome: 'removed', reason: 'dead_owner_salvaged' }]);
    const receipt = await readReceipt(place, copy.id, 'salvage');
    expect(receipt).toMatchObject({
      kind: 'salvage',
      partial: false,
      tornPossible: false,
      containment: 'bwrap',
    });
    expect(outcomes[0]?.patchSha256).toBe(receipt?.sha256);
    expect(patchOf(place, copy.id, 'salvage')).toContain('later work');
    expect(tombstoneOf(place, copy.id)).toMatchObject({
      ...{ phase: 'done', priorState: 'running', owner: copy.record.owner, reapers: [place.owner], by: null },
      receipt: { kind: 'salvage', sha256: receipt?.sha256 },
    });
    expect(leftOf(place)).toEqual([]);
    expect(events(copy.id)).toEqual(['copy_created', 'run_exited', 'captured', 'removed']);
    expect(deathOf(copy.id)).toMatchObject({ cause: 'supervisor_killed' });
    const [archive] = receipt?.archives ?? [];
    expect(archive).toMatchObject({ path: '.git', kind: 'git_state' });
    const tar = join(place.outboxDir, `${copy.id}.salvage.${archive?.sha256}.tar`);
    const names = sh('/', 'tar', '-tf', tar).split('\n');
    expect(names).toContain('.git/refs/stash');
    expect(names.filter((name) => /config|hooks/.test(name))).toEqual([]);
  });

  it('that died with another boot of the machine is salvaged, and its last files may be torn', async () => {
    const copy = await scene.deadCopy(ran);
    edit(copy, (record) => ({ ...record, owner: { ...record.owner, bootId: 'earlier', pid: process.pid } }));
    expect(await sweepCopies({ place })).toMatchObject([{ outcome: 'removed' }]);
    expect(await readReceipt(place, copy.id, 'salvage')).toMatchObject({ tornPossible: true });
    expect(deathOf(copy.id)).toMatchObject({ cause: 'host_reboot' });
  });

  it('whose patch was damaged in the outbox is salvaged again before it goes', async () => {
    const copy = await scene.deadCopy(async (made, owner) => {
      await ran(made);
      await captureResult(owner, made, 'none');
      put(
        place.outboxDir,
        `${made.id}.result.patch`,
        'x'.repeat(readFileSync(outboxPaths(place, made.id).patch).length),
      );
    });
    expect(await sweepCopies({ place })).toMatchObject([{ reason: 'dead_owner_salvaged' }]);
    expect(patchOf(place, copy.id, 'salvage')).toContain(`work of ${copy.id}`);
  });

  it('whose checkout or .git was replaced by a link leads nowhere: what it points to is neither read nor removed', async () => {
    const outside = join(scene.folder, 'outside');
    put(outside, 'objects/private', 'p');
    await scene.deadCopy(async (copy) => {
      await ran(copy);
      rmSync(copy.paths.work, { recursive: true });
      symlinkSync(outside, copy.paths.work);
    });
    const linked = await scene.deadCopy(async (copy) => {
      await ran(copy);
      rmSync(join(copy.paths.work, '.git'), { recursive: true });
      symlinkSync(outside, join(copy.paths.work, '.git'));
    });
    expect(await sweepCopies({ place })).toMatchObject([{ outcome: 'removed' }, { outcome: 'removed' }]);
    const [archive] = (await readReceipt(place, linked.id, 'salvage'))?.archives ?? [];
    const tar = join(place.outboxDir, `${linked.id}.salvage.${archive?.sha256}.tar`);
    expect(sh('/', 'tar', '-tf', tar).trim().split('\n')).toEqual(['.git']);
    expect(readdirSync(join(outside, 'objects'))).toEqual(['private']);
    expect(leftOf(place)).toEqual([]);
  });
});

describe('whatever is not known is kept and said', () => {
  it.each<[string, (copy: Copy) => void, string]>([
    [
      'its owner lives and its lock is free',
      (copy) => edit(copy, (record) => ({ ...record, owner: place.owner })),
      'conflict',
    ],
    [
      'its record is of another machine',
      (copy) => edit(copy, (record) => ({ ...record, owner: { ...record.owner, machineId: 'there' } })),
      'report',
    ],
    [
      'its record is of a network file system',
      (copy) => edit(copy, (record) => ({ ...record, fsType: 'nfs' })),
      'report',
    ],
    ['its record cannot be read', (copy) => put(copy.paths.ctl, 'record.json', '{"v":1'), 'report'],
    [
      'its record is of another copy',
      (copy) => edit(copy, (record) => ({ ...record, id: 'other' })),
      'report',
    ],
    ['it has no lock file', (copy) => rmSync(copy.paths.ownerLock), 'report'],
    [
      'it has files under a name that says it is gone',
      (copy) => renameSync(copy.paths.ctl, join(place.ctlDir, `.dead-${copy.id}`)),
      'report',
    ],
    [
      'it has files under a name that says it never was',
      (copy) => renameSync(copy.paths.ctl, join(place.ctlDir, `.new-${copy.id}`)),
      'report',
    ],
    ['nothing tells of its files', (copy) => rmSync(copy.paths.ctl, { recursive: true }), 'report'],
  ])('%s', async (_, change, step) => {
    const copy = await scene.deadCopy(ran);
    change(copy);
    const outcomes = await sweepCopies({ place });
    expect(outcomes).toMatchObject([{ id: copy.id, step, outcome: 'reported' }]);
    expect(await planSweep({ place })).toMatchObject([{ step, why: outcomes[0]?.why }]);
    expect(readFileSync(join(copy.paths.work, 'work.txt'), 'utf8')).toBe(`work of ${copy.id}\n`);
    expect(existsSync(join(place.tombstonesDir, `${copy.id}.json`))).toBe(false);
  });

  it('a data directory on a file system where locks prove nothing', async () => {
    const copy = await scene.deadCopy(ran);
    expect(await sweepCopies({ place: { ...place, fsType: 'nfs' } })).toMatchObject([
      { outcome: 'reported' },
    ]);
    expect(existsSync(copy.paths.work)).toBe(true);
  });
});

it('what never was a copy, and what is one no more, is cleared', async () => {
  for (const name of ['.new-a', '.new-b', '.dead-c']) mkdirSync(join(place.ctlDir, name));
  put(place.ctlDir, '.new-b/owner.lock', '');
  expect(await sweepCopies({ place })).toMatchObject([
    { id: 'c', step: 'clear_dead', outcome: 'cleared' },
    { id: 'a', step: 'clear_unpublished', outcome: 'cleared' },
    { id: 'b', step: 'clear_unpublished', outcome: 'cleared' },
  ]);
  expect(readdirSync(place.ctlDir)).toEqual([]);
});

describe('quarantine', () => {
  /** Its first index is gone: no capture can succeed. */
  const broken = async () =>
    await scene.deadCopy(async (copy) => {
      await ran(copy);
      renameSync(copy.paths.indexBase, join(copy.paths.ctl, 'index.away'));
    });
  const mend = (copy: Copy) => renameSync(join(copy.paths.ctl, 'index.away'), copy.paths.indexBase);

  it('takes a copy that cannot be captured, and no sweep touches it again until it is released', async () => {
    const copy = await broken();
    expect(await sweepCopies({ place })).toMatchObject([{ step: 'salvage', outcome: 'quarantined' }]);
    mend(copy);
    expect(await sweepCopies({ place })).toMatchObject([
      { step: 'keep_quarantined', outcome: 'quarantined' },
    ]);
    expect(readFileSync(join(copy.paths.grave, 'work.txt'), 'utf8')).toBe(`work of ${copy.id}\n`);
    expect(await listCopies(place)).toMatchObject([
      { id: copy.id, alive: false, state: 'running', quarantined: { by: place.owner } },
    ]);
    await releaseCopy(place, copy.id, 'ann');
    expect(await sweepCopies({ place })).toMatchObject([
      { outcome: 'removed', reason: 'dead_owner_salvaged' },
    ]);
    expect(events(copy.id)).toEqual([
      'copy_created',
      'run_exited',
      'capture_failed',
      'quarantined',
      'released',
      'captured',
      'removed',
    ]);
    expect(tombstoneOf(place, copy.id).priorState).toBe('running');
  });

  it('lets a person take the patch out, and remove it, each with a record', async () => {
    const copy = await broken();
    await sweepCopies({ place });
    mend(copy);
    const file = join(scene.folder, 'taken.patch');
    const receipt = await exportCopy(place, copy.id, 'ann', file);
    expect(readFileSync(file, 'utf8')).toContain(`work of ${copy.id}`);
    await expect(exportCopy(place, copy.id, 'ann', file)).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await sweepCopies({ place })).toMatchObject([{ step: 'keep_quarantined' }]);
    const tombstone = await discardCopy(place, copy.id, 'ann');
    expect(tombstone).toMatchObject({
      reason: 'removed_by_person',
      by: 'ann',
      receipt: { sha256: receipt.sha256 },
    });
    expect(leftOf(place)).toEqual([]);
    const told = eventsOf(place, copy.id).filter(({ by }) => by === 'ann');
    expect(told).toMatchObject([{ event: 'exported', sha256: receipt.sha256 }, { event: 'removed' }]);
  });

  it('keeps a copy with work that its own salvage could not hold', async () => {
    const copy = await scene.deadCopy(async (made) => {
      await ran(made);
      mkdirSync(join(made.paths.work, '.git', 'objects', 'zz'));
      sh('/', 'truncate', '-s', '1G', join(made.paths.work, '.git', 'objects', 'zz', 'sparse'));
      sh(
        '/',
        'sh',
        '-c',
        `head -c 600M /dev/zero | tr '\\0' x >'${join(made.paths.work, '.git', 'objects', 'zz', 'big')}'`,
      );
    });
    const [outcome] = await sweepCopies({ place });
    expect(outcome).toMatchObject({
      outcome: 'quarantined',
      error: expect.stringContaining('.git is in no patch'),
    });
    expect(patchOf(place, copy.id, 'salvage')).toContain(`work of ${copy.id}`);
  });

  it('takes a copy whose agent cannot be ended, and nothing of it is moved', {
    timeout: 120_000,
  }, async () => {
    const copy = await scene.deadCopy(ran);
    // Held by this very process, which no sweep ends.
    const held = await lockForAgent(copy.paths.agentLock);
    expect(await sweepCopies({ place })).toMatchObject([{ step: 'end_agent', outcome: 'quarantined' }]);
    expect(existsSync(join(copy.paths.work, 'work.txt'))).toBe(true);
    await expect(discardCopy(place, copy.id, 'ann')).rejects.toMatchObject({ code: 'copy_in_use' });
    await held?.close();
  });

  it('is the only state in which a person may remove, release or export a copy', async () => {
    const copy = await scene.deadCopy(ran);
    for (const act of [releaseCopy, discardCopy]) {
      await expect(act(place, copy.id, 'ann')).rejects.toMatchObject({ code: 'not_quarantined' });
      await expect(act(place, 'nobody', 'ann')).rejects.toMatchObject({ code: 'not_found' });
      await expect(act(place, '../ctl', 'ann')).rejects.toMatchObject({ code: 'not_found' });
    }
    await expect(exportCopy(place, copy.id, 'ann', '/tmp/x')).rejects.toMatchObject({
      code: 'not_quarantined',
    });
  });
});

it('trouble with one copy is its outcome, and the next is swept all the same', async () => {
  const first = await scene.deadCopy(ran);
  const second = await scene.deadCopy(ran);
  put(place.tombstonesDir, `${first.id}.json.tmp/in-the-way`, '');
  chmodSync(join(place.tombstonesDir, `${first.id}.json.tmp`), 0o755);
  const outcomes = await sweepCopies({ place });
  expect(outcomes).toMatchObject([
    { id: first.id, outcome: 'failed', error: expect.any(String) },
    { id: second.id, outcome: 'removed' },
  ]);
  expect(readFileSync(join(first.paths.grave, 'work.txt'), 'utf8')).toContain(first.id);
});
