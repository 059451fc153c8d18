/** A reaper takes a dead owner's copy over: it says so durably before it changes anything of it. */
import { join } from 'node:path';
import { type Takeover, takeoverSchema } from '../../records/copies.ts';
import type { Copy } from '../copy.ts';
import { readIfThere } from '../files.ts';
import { everyReaper } from '../tombstone.ts';
import type { Workplace } from '../workplace.ts';

/** A reaper that dies at the same copy again and again must not make its record grow for ever. */
const MAX_REAPERS = 100;

/** Whether a reaper was at it before. */
export async function wasTakenOver(copy: Copy): Promise<boolean> {
  return (await readIfThere(pathOf(copy))) !== null;
}

/** With everybody who was at it before. Throws LaneError `disk`. */
export async function takeOver(place: Workplace, copy: Copy): Promise<Takeover> {
  const path = pathOf(copy);
  const before = await readTakeover(path);
  const takeover = takeoverSchema.parse({
    ...{ v: 1, id: copy.id, priorState: before?.priorState ?? copy.record.state },
    reapers: everyReaper(before?.reapers ?? [], [place.owner]).slice(-MAX_REAPERS),
  });
  await place.files.writeDurably(path, `${JSON.stringify(takeover)}\n`);
  return takeover;
}

function pathOf({ paths }: Copy): string {
  return join(paths.ctl, 'takeover.json');
}

/** A damaged one is as good as none: it is for the tombstone's list only. */
async function readTakeover(path: string): Promise<Takeover | null> {
  try {
    const text = await readIfThere(path);
    return text === null ? null : takeoverSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
