/** What copies there are, for people: whose, alive or why not, how old, how large. */
import { stat } from 'node:fs/promises';
import type { CopyRecord, CopyState, Quarantine } from '../../records/copies.ts';
import { runProgram } from '../program.ts';
import { TOOL_PATH } from '../tools.ts';
import type { Workplace } from '../workplace.ts';
import { lookAt } from './look.ts';
import { readQuarantine } from './quarantine.ts';
import { type Entry, scanCopies } from './scan.ts';

export interface CopyListing {
  readonly id: string;
  readonly record: CopyRecord | null;
  readonly alive: boolean | 'unknown';
  /** Why it counts as alive or not. */
  readonly why: string;
  readonly ageMs: number | null;
  /** On the disk, with its records. */
  readonly bytes: number;
  readonly state: CopyState | 'unknown';
  /** Only `why` where its record cannot be read. */
  readonly quarantined: (Pick<Quarantine, 'why'> & Partial<Quarantine>) | null;
}

/** Changes nothing; takes and frees each free owner lock for a moment. */
export async function listCopies(place: Workplace): Promise<CopyListing[]> {
  const { entries } = await scanCopies(place);
  const listings: CopyListing[] = [];
  for (const entry of entries) {
    const listing = await listingOf(place, entry);
    if (listing) listings.push(listing);
  }
  return listings;
}

async function listingOf(place: Workplace, entry: Entry): Promise<CopyListing | null> {
  const look = await lookAt(place, entry);
  await look?.lock?.release();
  if (look === null) return null;
  const { record, owner, facts, decision } = look;
  const busy = facts.lock === 'busy';
  return {
    ...{ id: entry.id, record },
    alive: busy || owner?.kind === 'alive' ? true : owner?.kind === 'dead' ? false : 'unknown',
    why: busy ? decision.why : (owner?.why ?? decision.why),
    ageMs: record && Math.max(0, place.now() - record.at),
    bytes: await bytesOf(entry),
    state: record?.state ?? 'unknown',
    quarantined: await readQuarantine(entry),
  };
}

async function bytesOf({ paths }: Entry): Promise<number> {
  const there: string[] = [];
  for (const path of [paths.ctl, paths.work, paths.grave]) {
    if (await stat(path).catch(() => null)) there.push(path);
  }
  if (there.length === 0) return 0;
  const args = ['--summarize', '--total', '--block-size=1', '--one-file-system', '--', ...there];
  const { stdout } = await runProgram({ file: 'du', args, env: { PATH: TOOL_PATH, LC_ALL: 'C' }, cwd: '/' });
  return Number(stdout.toString('utf8').trim().split('\n').at(-1)?.split('\t')[0] ?? 0);
}
