/**
 * The sweep under test, and the two wrong designs that the harness must catch. Those are told here and nowhere in the
 * product: one takes a name for ownership, the other takes a pid for life and deletes what it has not captured.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { type CopyRecord, copyRecordSchema } from '../../lanes/records/copies.ts';
import { copyPaths } from '../../lanes/work/copy.ts';
import { sweepCopies } from '../../lanes/work/sweep/index.ts';
import type { Workplace } from '../../lanes/work/workplace.ts';

export type SweepKind = 'ours' | 'prefix' | 'pid';

export const sweeps: Readonly<Record<SweepKind, (place: Workplace) => Promise<unknown>>> = {
  ours: (place) => sweepCopies({ place }),
  /** At its start a supervisor removes every copy under its own name: nobody else can have it, it believes. */
  prefix: (place) => removeWhere(place, ({ owner }) => owner.instance === place.owner.instance),
  /** At its start a supervisor removes every copy whose owner's pid is not alive, and asks for nothing more. */
  pid: (place) => removeWhere(place, ({ owner }) => !isAlive(owner.pid)),
};

async function removeWhere(place: Workplace, isOver: (record: CopyRecord) => boolean): Promise<void> {
  for (const id of await readdir(place.ctlDir)) {
    const paths = copyPaths(place, id);
    const text = await readFile(paths.record, 'utf8').catch(() => null);
    if (id.startsWith('.') || text === null || !isOver(copyRecordSchema.parse(JSON.parse(text)))) continue;
    for (const path of [paths.work, paths.ctl]) {
      // An agent may still write into it: what cannot go now goes with the data folder.
      await rm(path, { recursive: true, force: true, maxRetries: 2 }).catch(() => {});
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
