import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Copy, markRunning } from '../../../../lanes/work/copy.ts';
import { sweepCopies } from '../../../../lanes/work/sweep/index.ts';
import { put } from '../support.ts';
import { makeScene, patchOf, type Scene } from './scene.ts';
import { eventsOf, leftOf, tombstoneOf } from './support.ts';

/** Every named point in the work of a reaper. */
const points = [
  ...['sweep.locked', 'sweep.quiet', 'sweep.moved'],
  ...['begin', 'added', 'streamed', 'synced', 'renamed', 'receipt'].map((name) => `salvage.${name}`),
  ...['captured', 'rm.tombstoned', 'rm.renamed', 'rm.deleted', 'rm.unpinned'],
];

let scene: Scene;
beforeAll(async () => {
  scene = await makeScene();
}, 120_000);
afterAll(() => scene.close());

/** A copy with work that no patch has, of an owner that is dead. */
async function unsavedCopy(): Promise<Copy> {
  return await scene.deadCopy(async (copy) => {
    await markRunning(copy, { pid: 2 ** 22 + 2, startTime: '1', cgroup: '', containment: 'none' });
    put(copy.paths.work, 'work.txt', `work of ${copy.id}\n`);
  });
}

function expectRemoved(copy: Copy, reapers: readonly string[]): void {
  const { place } = scene;
  const tombstone = tombstoneOf(place, copy.id);
  expect(tombstone).toMatchObject({ phase: 'done', reason: 'dead_owner_salvaged', priorState: 'running' });
  expect(tombstone.reapers.map(({ uuid }) => uuid)).toEqual(reapers);
  expect(patchOf(place, copy.id, 'salvage')).toContain(`work of ${copy.id}`);
  expect(eventsOf(place, copy.id).filter(({ event }) => event === 'removed')).toHaveLength(1);
  expect(leftOf(place)).toEqual([]);
}

it.each(points)(
  'a reaper killed at %s: the next one finishes, and the tombstone names both',
  {
    timeout: 120_000,
  },
  async (point) => {
    const { place } = scene;
    const copy = await unsavedCopy();
    const reaper = await scene.start('reaper', 'worker-a');
    reaper.order({ point, how: 'SIGKILL' });
    await reaper.next();
    await reaper.gone();
    expect(await sweepCopies({ place })).toMatchObject([{ id: copy.id, outcome: 'removed' }]);
    expectRemoved(copy, [reaper.uuid, place.owner.uuid]);
  },
);

it('a stopped reaper keeps its copy at every point, and alone finishes when it goes on', {
  timeout: 240_000,
}, async () => {
  const { place } = scene;
  const reaper = await scene.start('reaper', 'worker-a');
  for (const point of points) {
    const copy = await unsavedCopy();
    reaper.order({ point, how: 'SIGSTOP' });
    await reaper.next();
    await reaper.stopped();
    for (let round = 0; round < 3; round++) {
      expect(await sweepCopies({ place }), point).toMatchObject([{ id: copy.id, outcome: 'live' }]);
    }
    reaper.goOn();
    const { outcomes } = await reaper.next();
    expect(outcomes).toMatchObject([{ id: copy.id, outcome: 'removed' }]);
    expectRemoved(copy, [reaper.uuid]);
  }
});

it('of rival reapers exactly one removes each copy, and it is the one in the tombstone', {
  timeout: 120_000,
}, async () => {
  const { place } = scene;
  const copies = [await unsavedCopy(), await unsavedCopy(), await unsavedCopy(), await unsavedCopy()];
  const rivals = [await scene.start('reaper', 'worker-a'), await scene.start('reaper', 'worker-a')];
  for (const rival of rivals) rival.order({ point: '', how: 'nothing' });
  const said = await Promise.all([
    sweepCopies({ place }).then((outcomes) => ({ uuid: place.owner.uuid, outcomes })),
    ...rivals.map((rival) => rival.next()),
  ]);
  for (const copy of copies) {
    const winners = said.filter(({ outcomes }) =>
      outcomes.some(
        (one: { id: string; outcome: string }) => one.id === copy.id && one.outcome === 'removed',
      ),
    );
    expect(winners).toHaveLength(1);
    expectRemoved(copy, [winners[0]?.uuid]);
  }
});
