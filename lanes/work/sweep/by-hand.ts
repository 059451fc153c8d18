/** The way out of quarantine: a person takes the patch out, gives the copy back to the sweep, or removes it. */
import { constants } from 'node:fs';
import { copyFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { LaneError } from '../../errors.ts';
import type { Receipt, Tombstone } from '../../records/copies.ts';
import type { Copy } from '../copy.ts';
import { onDisk, syncFolder } from '../files.ts';
import { eventOf } from '../machine-ledger.ts';
import { outboxPaths, readReceipt } from '../outbox.ts';
import { removeFor } from '../removal.ts';
import type { Workplace } from '../workplace.ts';
import { endProcesses } from './carry-out.ts';
import { copyOf, inGrave, type Look, lookAt } from './look.ts';
import { quarantinePath } from './quarantine.ts';
import { salvage } from './salvage.ts';
import { publishedEntry } from './scan.ts';
import { takeOver } from './takeover.ts';

/**
 * Gives a quarantined copy back to the sweep, which tries again. `by` is who says so, for the ledger.
 * @throws LaneError `not_found`, `not_quarantined`, `copy_in_use` or `disk`; the same for the other two.
 */
export async function releaseCopy(place: Workplace, id: string, by: string): Promise<void> {
  await withQuarantined(place, id, async (copy) => {
    // Told first: a release that nobody recorded must not happen.
    await place.ledger.append({ ...eventOf(place, copy.record), event: 'released', by });
    await onDisk(`cannot release ${id}`, async () => {
      await rm(quarantinePath(copy), { force: true });
      await syncFolder(copy.paths.ctl);
    });
  });
}

/**
 * Captures a quarantined copy as far as it can be read, and copies the patch into the new file `toFile`. The copy stays
 * in quarantine; the capture lies in the outbox too. What the patch lacks is in the answer's `missing`.
 * @throws LaneError `capture_failed` or `git_failed` where not even that can be done; `invalid_request` where the file
 * exists.
 */
export async function exportCopy(place: Workplace, id: string, by: string, toFile: string): Promise<Receipt> {
  return await withQuarantined(place, id, async (copy, look) => {
    await demandQuiet(place, copy);
    const receipt = await salvage(place, copy, look.owner?.kind === 'dead' && look.owner.rebooted);
    await copyOut(outboxPaths(place, id, 'salvage').patch, toFile);
    await place.ledger.append({
      ...{ ...eventOf(place, copy.record), event: 'exported', by, sha256: receipt.sha256 },
    });
    return receipt;
  });
}

/** Removes a quarantined copy, whether its work is saved or not; the tombstone says who did. */
export async function discardCopy(place: Workplace, id: string, by: string): Promise<Tombstone> {
  return await withQuarantined(place, id, async (copy) => {
    const { reapers, priorState } = await takeOver(place, copy);
    await demandQuiet(place, copy);
    const receipt = await bestReceipt(place, id);
    const order = { reason: 'removed_by_person' as const, reapers, priorState, receipt, by };
    return await removeFor(place, copy.lock, copy, order);
  });
}

async function withQuarantined<T>(
  place: Workplace,
  id: string,
  work: (copy: Copy, look: Look) => Promise<T>,
): Promise<T> {
  const entry = await publishedEntry(place, id);
  const look = entry && (await lookAt(place, entry));
  if (look === null) throw new LaneError('not_found', `there is no copy ${id}`);
  const { decision, lock, record, facts } = look;
  try {
    if (facts.lock === 'busy') throw new LaneError('copy_in_use', `${id}: ${decision.why}`);
    if (lock === null || record === null || decision.step !== 'keep_quarantined') {
      throw new LaneError('not_quarantined', `${id}: ${decision.why}`);
    }
    const copy = copyOf(place, look.entry, record, lock);
    return await work(facts.checkout === 'grave' ? inGrave(copy) : copy, look);
  } finally {
    await lock?.release();
  }
}

async function demandQuiet(place: Workplace, copy: Copy): Promise<void> {
  if (await endProcesses(place, copy)) return;
  throw new LaneError('copy_in_use', `${copy.id}: processes of its run are alive; end them by hand`);
}

async function copyOut(patch: string, toFile: string): Promise<void> {
  try {
    await onDisk(`cannot write ${toFile}`, () => copyFile(patch, toFile, constants.COPYFILE_EXCL));
  } catch (error) {
    if (error instanceof LaneError) throw error;
    throw new LaneError('invalid_request', `${toFile} cannot be written; it must be a new file`, {
      cause: error,
    });
  }
  await syncFolder(dirname(toFile));
}

async function bestReceipt(place: Workplace, id: string): Promise<Receipt | null> {
  for (const kind of ['result', 'salvage'] as const) {
    const receipt = await readReceipt(place, id, kind).catch(() => null);
    if (receipt !== null) return receipt;
  }
  return null;
}
