import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { markRunning } from '../../../../lanes/work/copy.ts';
import type { SyncFile } from '../../../../lanes/work/files.ts';
import { outboxPaths, readReceipt } from '../../../../lanes/work/outbox.ts';
import { sweepCopies } from '../../../../lanes/work/sweep/index.ts';
import { readTombstone } from '../../../../lanes/work/tombstone.ts';
import type { Workplace } from '../../../../lanes/work/workplace.ts';
import { makeCopy, makePlace, makeRemote, put } from '../support.ts';
import { mayMount, smallDisk } from './disk-support.ts';

const points = [
  'sweep.locked',
  'sweep.moved',
  'salvage.added',
  'salvage.synced',
  'salvage.renamed',
  'salvage.receipt',
  'rm.tombstoned',
];

/** A copy with work in it, whose owner died before it captured anything. */
async function deadCopy(place: Workplace, remote: string): Promise<string> {
  const dead = { ...place, owner: { ...place.owner, bootId: 'the boot before', uuid: place.id() } };
  const copy = await makeCopy(dead, remote);
  await markRunning(copy, { pid: 1, startTime: '1', cgroup: '', containment: 'none' });
  put(copy.paths.work, 'work.txt', `the work of ${copy.id}\n`);
  await copy.lock.release();
  return copy.id;
}

test.runIf(mayMount)(
  'a sweep whose disk is full removes nothing without a durable tombstone, and ends what it began when there is room',
  { timeout: 240_000 },
  async () => {
    const disk = smallDisk();
    const place = await makePlace(undefined, { dataDir: join(disk.folder, 'data') });
    const remote = makeRemote({ 'a.txt': 'a\n' });
    for (const at of points) {
      const id = await deadCopy(place, remote);
      const filling = { ...place, point: (name: string) => (name === at ? disk.fill() : undefined) };
      const [outcome] = await sweepCopies({ place: filling });
      const tombstone = await readTombstone(place, id);
      const files = [place.workDir, place.graveDir].filter((folder) =>
        existsSync(join(folder, id, 'work.txt')),
      );
      if (tombstone === null)
        expect({ at, outcome: outcome?.outcome, files: files.length }).toEqual({
          at,
          outcome: 'failed',
          files: 1,
        });
      else expect(await readReceipt(place, id, 'salvage')).toMatchObject({ copy: id });
      disk.empty();
      if (outcome?.outcome !== 'removed') {
        expect(await sweepCopies({ place })).toMatchObject([
          { id, outcome: 'removed', reason: 'dead_owner_salvaged' },
        ]);
      }
      expect(readFileSync(outboxPaths(place, id, 'salvage').patch, 'utf8')).toContain(`+the work of ${id}`);
      expect([place.ctlDir, place.workDir, place.graveDir].flatMap((folder) => readdirSync(folder))).toEqual(
        [],
      );
    }
  },
);

test('a sweep whose disk breaks at the outbox puts nothing in quarantine, and ends what it began when it is mended', {
  timeout: 120_000,
}, async () => {
  let broken = true;
  const sync: SyncFile = async (file, path) => {
    if (broken && path.includes('/outbox/')) throw Object.assign(new Error('i/o error'), { code: 'EIO' });
    await file.sync();
  };
  const place = await makePlace(undefined, { sync });
  const id = await deadCopy(place, makeRemote({ 'a.txt': 'a\n' }));
  expect(await sweepCopies({ place })).toMatchObject([{ id, outcome: 'failed' }]);
  expect(existsSync(join(place.graveDir, id, 'work.txt'))).toBe(true);
  broken = false;
  expect(await sweepCopies({ place })).toMatchObject([{ id, outcome: 'removed' }]);
});
