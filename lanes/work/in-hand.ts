/**
 * Keeps the end of a run on the box's disk until the App has recorded it: a box that dies in between goes on from
 * there, as long as its lease lasts.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type InHand, inHandSchema } from '../records/in-hand.ts';
import { readIfThere, writeDurably } from './files.ts';
import type { Workplace } from './workplace.ts';

export interface InHandStore {
  /** Durable when it resolves. @throws LaneError `disk`. */
  keep(one: InHand): Promise<void>;
  /** What an earlier process left; null where there is nothing, or nothing that can be read. */
  read(): Promise<InHand | null>;
  drop(): Promise<void>;
}

/** A box works on one run at a time, so there is one file. The caller holds the data directory's box lock. */
export function openInHand(place: Workplace): InHandStore {
  const path = join(place.dataDir, 'in-hand.json');
  return {
    keep: (one) => writeDurably(path, `${JSON.stringify(one)}\n`),
    async read() {
      const text = await readIfThere(path);
      return text === null ? null : parse(text);
    },
    drop: () => rm(path, { force: true }),
  };
}

/** A damaged file is given up: the lease ends by itself, and the patch lies in the outbox all the same. */
function parse(text: string): InHand | null {
  try {
    return inHandSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
