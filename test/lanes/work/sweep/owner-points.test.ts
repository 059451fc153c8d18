import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { planSweep, sweepCopies } from '../../../../lanes/work/sweep/index.ts';
import { until } from '../../../support/until.ts';
import { sh } from '../support.ts';
import { makeScene, patchOf, type Scene } from './scene.ts';
import { eventsOf, leftOf, tombstoneOf } from './support.ts';

/** Every named point in the life of an owner, and what a sweep makes of a copy whose owner died there. */
const points: readonly { point: string; reason: string; saved?: 'result' | 'salvage' }[] = [
  { point: 'create.locked', reason: 'cleared' },
  { point: 'create.published', reason: 'dead_owner_nothing_started' },
  { point: 'create.pinned', reason: 'dead_owner_nothing_started' },
  { point: 'create.copied', reason: 'dead_owner_nothing_started' },
  { point: 'run.prespawn', reason: 'dead_owner_salvaged' },
  { point: 'run.spawned', reason: 'dead_owner_salvaged', saved: 'salvage' },
  { point: 'result.begin', reason: 'dead_owner_salvaged', saved: 'salvage' },
  { point: 'result.added', reason: 'dead_owner_salvaged', saved: 'salvage' },
  { point: 'result.streamed', reason: 'dead_owner_salvaged', saved: 'salvage' },
  { point: 'result.synced', reason: 'dead_owner_salvaged', saved: 'salvage' },
  { point: 'result.renamed', reason: 'dead_owner_salvaged', saved: 'salvage' },
  { point: 'result.receipt', reason: 'dead_owner_captured', saved: 'result' },
  { point: 'captured', reason: 'dead_owner_captured', saved: 'result' },
  { point: 'rm.tombstoned', reason: 'completed', saved: 'result' },
  { point: 'rm.renamed', reason: 'completed', saved: 'result' },
  { point: 'rm.deleted', reason: 'completed', saved: 'result' },
  { point: 'rm.unpinned', reason: 'completed', saved: 'result' },
];

let scene: Scene;
beforeAll(async () => {
  scene = await makeScene();
}, 120_000);
afterAll(() => scene.close());

/** Nothing is removed, nothing is changed, however often somebody of the same name sweeps. */
async function sweepThrice(): Promise<void> {
  for (let round = 0; round < 3; round++) {
    expect(await sweepCopies({ place: scene.place })).toMatchObject([{ step: 'skip_live', outcome: 'live' }]);
  }
}

it.each(points)(
  'an owner killed at $point: one removal, $reason, and nothing acknowledged is lost',
  {
    timeout: 120_000,
  },
  async ({ point, reason, saved }) => {
    const { place } = scene;
    const owner = await scene.start('owner', 'worker-a');
    owner.order({ point, how: 'SIGKILL', stays: point === 'run.spawned' });
    const { id } = await owner.next();
    await owner.gone();
    const outcomes = await sweepCopies({ place });
    expect(outcomes).toHaveLength(1);
    expect(await sweepCopies({ place })).toEqual([]);
    expect(leftOf(place)).toEqual([]);
    if (saved) expect(patchOf(place, id, saved)).toContain(`work of ${id}`);
    expect(existsSync(join(scene.acks, id))).toBe(saved !== undefined);
    if (reason === 'cleared') {
      expect(outcomes).toMatchObject([{ id, outcome: 'cleared' }]);
      return;
    }
    expect(outcomes).toMatchObject([{ id, outcome: 'removed', reason }]);
    const reapers = reason === 'completed' ? [owner.uuid, place.owner.uuid] : [place.owner.uuid];
    expect(tombstoneOf(place, id)).toMatchObject({ reason, phase: 'done', owner: { uuid: owner.uuid } });
    expect(tombstoneOf(place, id).reapers.map(({ uuid }) => uuid)).toEqual(reapers);
    expect(eventsOf(place, id).filter(({ event }) => event === 'removed')).toHaveLength(1);
    const killed = eventsOf(place, id).filter(({ event }) => event === 'kill_intent');
    expect(killed).toHaveLength(point === 'run.spawned' ? 1 : 0);
  },
);

it('a stopped owner keeps its copy at every point, and finishes when it goes on', {
  timeout: 240_000,
}, async () => {
  const { place } = scene;
  const owner = await scene.start('owner', 'worker-a');
  for (const { point } of points) {
    owner.order({ point, how: 'SIGSTOP' });
    const { id } = await owner.next();
    await owner.stopped();
    await sweepThrice();
    owner.goOn();
    expect(await owner.next(), point).toEqual({ end: 'removed', id });
    expect(tombstoneOf(place, id)).toMatchObject({ reason: 'completed', reapers: [{ uuid: owner.uuid }] });
    expect(patchOf(place, id, 'result')).toContain(`work of ${id}`);
    expect(leftOf(place)).toEqual([]);
  }
});

it('a blocked owner keeps its copy', { timeout: 120_000 }, async () => {
  const owner = await scene.start('owner', 'worker-a');
  const fifo = join(scene.folder, 'fifo');
  sh(scene.folder, 'mkfifo', fifo);
  owner.order({ point: 'result.streamed', how: 'block', fifo });
  const { id } = await owner.next();
  await sweepThrice();
  writeFileSync(fifo, '');
  expect(await owner.next()).toEqual({ end: 'removed', id });
});

it('an owner in another pid namespace keeps its copy as long as it lives, and no longer', {
  timeout: 120_000,
}, async (test) => {
  const { place, folder } = scene;
  const wrapper = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
  try {
    sh(folder, ...wrapper, 'true');
  } catch (error) {
    test.skip(`no new pid namespace here: ${error}`);
  }
  const owner = await scene.start('owner', 'worker-a', wrapper);
  const fifo = join(folder, 'fifo-inside');
  sh(folder, 'mkfifo', fifo);
  owner.order({ point: 'result.begin', how: 'block', fifo });
  const { id } = await owner.next();
  await sweepThrice();
  owner.kill();
  await owner.gone();
  // What is killed is its wrapper; the kernel ends the rest of the namespace right after.
  await until('its lock is free', async () => (await planSweep({ place }))[0]?.step !== 'skip_live');
  expect(await sweepCopies({ place })).toMatchObject([{ id, reason: 'dead_owner_salvaged' }]);
  expect(patchOf(place, id, 'salvage')).toContain(`work of ${id}`);
});
