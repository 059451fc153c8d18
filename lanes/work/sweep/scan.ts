/** What lies in `copies/`: one entry for each copy, and what is there without belonging to one. */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { copyIdSchema } from '../../records/copies.ts';
import type { CopyFacts } from '../../rules/sweep.ts';
import { type CopyPaths, copyPaths, inCtl } from '../copy.ts';
import type { Workplace } from '../workplace.ts';

export interface Entry {
  readonly id: string;
  readonly kind: CopyFacts['entry'];
  /** Where its parts lie, with the name that its `ctl` folder has now. */
  readonly paths: CopyPaths;
}

/** Something that no record tells of. It is only ever reported. */
export interface Stranger {
  readonly id: string;
  readonly why: string;
}

const ENTRIES_AT_ONCE = 50;
const PREFIXES = { '.new-': 'unpublished', '.dead-': 'dead' } as const;

export async function scanCopies(place: Workplace): Promise<{ entries: Entry[]; strangers: Stranger[] }> {
  // Files first: a copy's folder in ctl/ is made before them and goes after them.
  const [inWork, inGrave] = await Promise.all([readdir(place.workDir), readdir(place.graveDir)]);
  const names = await readdir(place.ctlDir);
  const found: (Entry | string)[] = [];
  for (const [index, name] of names.sort().entries()) {
    // Ten thousand copies at once would block everything else in this process for half a second.
    if (index % ENTRIES_AT_ONCE === 0) await setImmediate();
    found.push(entryOf(place, name) ?? name);
  }
  const entries = found.filter((one) => typeof one !== 'string');
  const known = new Set(entries.map(({ id }) => id));
  const strangers: Stranger[] = found
    .filter((one) => typeof one === 'string')
    .map((name) => ({ id: name, why: `ctl/${name} is not a copy's name` }));
  const files = [
    ...inWork.map((id) => ({ id, room: 'work' })),
    ...inGrave.map((id) => ({ id, room: 'grave' })),
  ];
  for (const { id, room } of files.filter((one) => !known.has(one.id))) {
    const path = join(room === 'work' ? place.workDir : place.graveDir, id);
    // A removal may have ended between the two looks.
    const there = await lstat(path).catch(() => null);
    if (there) strangers.push({ id, why: `${room}/${id} has no ownership record` });
  }
  return { entries, strangers };
}

/** The entry of a published copy, or null where the id is none or nothing has it. */
export async function publishedEntry(place: Workplace, id: string): Promise<Entry | null> {
  if (!copyIdSchema.safeParse(id).success) return null;
  const entry = entryOf(place, id);
  return entry && (await isThere(entry)) ? entry : null;
}

/** Whether the entry still has its folder under this name. */
export async function isThere(entry: Entry): Promise<boolean> {
  return (await lstat(entry.paths.ctl).catch(() => null)) !== null;
}

function entryOf(place: Workplace, name: string): Entry | null {
  const prefix = (Object.keys(PREFIXES) as (keyof typeof PREFIXES)[]).find((one) => name.startsWith(one));
  const id = name.slice(prefix?.length ?? 0);
  if (!copyIdSchema.safeParse(id).success) return null;
  const paths = { ...copyPaths(place, id), ...inCtl(join(place.ctlDir, name)) };
  return { id, kind: prefix ? PREFIXES[prefix] : 'published', paths };
}
