/** One look at a copy, under its lock where that is free: what is known of it, and what follows from that. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { type CopyRecord, copyRecordSchema } from '../../records/copies.ts';
import {
  type CopyFacts,
  type Decision,
  judgeOwner,
  nextStep,
  type OwnerJudgement,
} from '../../rules/sweep.ts';
import { hashFile } from '../capture/hash.ts';
import type { Copy } from '../copy.ts';
import { readIfThere } from '../files.ts';
import { processStat } from '../identity.ts';
import { type Lock, lockIfThere, tryLock } from '../lock.ts';
import { mirrorPath } from '../mirror.ts';
import { outboxPaths, readReceipt } from '../outbox.ts';
import { unsavedWork } from '../saved.ts';
import { readTombstone } from '../tombstone.ts';
import type { Workplace } from '../workplace.ts';
import type { HeldLocks } from './held-locks.ts';
import { readQuarantine } from './quarantine.ts';
import { type Entry, isThere } from './scan.ts';

export interface Look {
  readonly entry: Entry;
  /** Held where it was free: the caller frees it. */
  readonly lock: Lock | null;
  readonly record: CopyRecord | null;
  readonly owner: OwnerJudgement | null;
  readonly facts: CopyFacts;
  readonly decision: Decision;
}

/**
 * Null where the copy is gone meanwhile. Makes nothing, except for the lock file of a folder that never was a copy.
 * @param held spares a helper process where it lists the lock; without it every lock is tried.
 */
export async function lookAt(place: Workplace, entry: Entry, held?: HeldLocks): Promise<Look | null> {
  const answer = (await held?.(entry.paths.ownerLock)) ? 'busy' : await lockOf(entry);
  const lock = typeof answer === 'string' ? null : answer;
  try {
    if (lock === null && !(await isThere(entry))) return null;
    const record = await readRecord(entry);
    const owner = record && (await judge(place, record));
    const state = typeof answer === 'string' ? answer : 'ours';
    const facts = await factsOf(place, { entry, record, owner, lock: state });
    return { entry, lock, record, owner, facts, decision: nextStep(facts) };
  } catch (error) {
    await lock?.release();
    throw error;
  }
}

/** The same look again, with the lock still held. */
export async function lookAgain(place: Workplace, { entry, owner }: Look, copy: Copy): Promise<CopyFacts> {
  return await factsOf(place, { entry, owner, record: copy.record, lock: 'ours' });
}

/** A copy as its new holder works with it. */
export function copyOf(place: Workplace, entry: Entry, record: CopyRecord, lock: Lock): Copy {
  const borrowedObjects = join(mirrorPath(place, record.repositoryId), 'objects');
  return { id: entry.id, lock, paths: entry.paths, borrowedObjects, files: place.files, record };
}

/** The same copy, its files being in the grave. */
export function inGrave(copy: Copy): Copy {
  return { ...copy, paths: { ...copy.paths, work: copy.paths.grave } };
}

/** A folder without a lock file is of a maker that died before it had one, or is about to: then one of the two wins. */
async function lockOf(entry: Entry): Promise<Lock | 'busy' | 'missing'> {
  const answer = await lockIfThere(entry.paths.ownerLock);
  if (answer !== 'missing' || entry.kind !== 'unpublished' || !(await isThere(entry))) return answer;
  return (await tryLock(entry.paths.ownerLock)) ?? 'busy';
}

async function readRecord({ id, paths }: Entry): Promise<CopyRecord | null> {
  const text = await readIfThere(paths.record);
  try {
    const record = copyRecordSchema.parse(JSON.parse(text ?? ''));
    return record.id === id ? record : null;
  } catch {
    return null;
  }
}

/** A zombie is dead: its parent has only not asked yet. */
async function judge(place: Workplace, record: CopyRecord): Promise<OwnerJudgement> {
  const stat = await processStat(record.owner.pid);
  const lives = stat !== null && stat.state !== 'Z' && stat.state !== 'X';
  return judgeOwner(record, place.owner, lives ? stat.startTime : null);
}

type Known = Pick<CopyFacts, 'lock' | 'owner'> & { entry: Entry; record: CopyRecord | null };

async function factsOf(place: Workplace, { entry, record, owner, lock }: Known): Promise<CopyFacts> {
  const known = {
    ...{ entry: entry.kind, lock, owner, fsType: place.fsType },
    record: record && { state: record.state, agentStarted: record.agent !== null },
  };
  const rest = { agentAlive: false, saved: null, unsaved: null, tombstone: null, quarantine: null };
  if (lock === 'busy') return { ...known, ...rest, checkout: 'none' };
  const checkout = await checkoutOf(entry);
  if (entry.kind !== 'published' || record === null || owner?.kind !== 'dead') {
    return { ...known, ...rest, checkout };
  }
  const quarantine = await readQuarantine(entry);
  return {
    ...{ ...known, checkout },
    agentAlive: await isBusy(entry.paths.agentLock),
    ...(await savedWork(place, record, checkout === 'grave' ? entry.paths.grave : entry.paths.work)),
    tombstone: await tombstoneOf(place, record),
    quarantine: quarantine?.why ?? null,
  };
}

async function checkoutOf({ paths }: Entry): Promise<CopyFacts['checkout']> {
  const there = (path: string) => lstat(path).then(Boolean, () => false);
  const [work, grave] = await Promise.all([there(paths.work), there(paths.grave)]);
  if (work && grave) return 'both';
  if (work) return 'work';
  return grave ? 'grave' : 'none';
}

async function isBusy(path: string): Promise<boolean> {
  const answer = await lockIfThere(path);
  if (typeof answer !== 'string') await answer.release();
  return answer === 'busy';
}

/** A receipt counts where it is of this very run, and everything that it names lies in the outbox, byte for byte. */
async function savedWork(
  place: Workplace,
  record: CopyRecord,
  checkout: string,
): Promise<Pick<CopyFacts, 'saved' | 'unsaved'>> {
  let unsaved: string | null = null;
  for (const kind of ['result', 'salvage'] as const) {
    const receipt = await readReceipt(place, record.id, kind).catch(() => 'damaged' as const);
    if (receipt === null) continue;
    unsaved =
      receipt === 'damaged' || receipt.task !== record.task || receipt.fence !== record.fence
        ? `its receipt (${kind}) is not of this run or cannot be read`
        : await unsavedWork(place, receipt, checkout);
    if (unsaved === null && receipt !== 'damaged') {
      const { sha256 } = await hashFile(outboxPaths(place, record.id, kind).patch);
      if (sha256 === receipt.sha256) return { saved: kind, unsaved: null };
      unsaved = `its patch (${kind}) is not the one that was captured`;
    }
  }
  return { saved: null, unsaved };
}

async function tombstoneOf(place: Workplace, { id, owner }: CopyRecord): Promise<CopyFacts['tombstone']> {
  const tombstone = await readTombstone(place, id).catch(() => 'unreadable' as const);
  if (tombstone === null || tombstone === 'unreadable') return tombstone;
  return tombstone.owner.uuid === owner.uuid ? tombstone.phase : 'unreadable';
}
