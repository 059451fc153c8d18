/** Quarantine: a copy that no sweep touches until a person says what to do with it. */
import { join } from 'node:path';
import { type Quarantine, quarantineSchema } from '../../records/copies.ts';
import type { Copy } from '../copy.ts';
import { readIfThere } from '../files.ts';
import { eventOf } from '../machine-ledger.ts';
import type { Workplace } from '../workplace.ts';

/** Any file there keeps the copy, also one that cannot be read. */
export async function readQuarantine(
  copy: Pick<Copy, 'id' | 'paths'>,
): Promise<(Pick<Quarantine, 'why'> & Partial<Quarantine>) | null> {
  const text = await readIfThere(quarantinePath(copy));
  if (text === null) return null;
  try {
    return quarantineSchema.parse(JSON.parse(text));
  } catch {
    return { why: 'its quarantine record cannot be read' };
  }
}

/** Durable when it resolves. Throws LaneError `disk`: the copy is kept all the same. */
export async function putInQuarantine(place: Workplace, copy: Copy, why: string): Promise<void> {
  const quarantine = quarantineSchema.parse({ v: 1, id: copy.id, why, by: place.owner, at: place.now() });
  await place.files.writeDurably(quarantinePath(copy), `${JSON.stringify(quarantine)}\n`);
  await place.ledger.append({ ...eventOf(place, copy.record), event: 'quarantined', why });
}

export function quarantinePath({ paths }: Pick<Copy, 'paths'>): string {
  return join(paths.ctl, 'quarantine.json');
}
