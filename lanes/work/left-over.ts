/**
 * Copies that are at their end and which a broken disk kept from being captured or removed. Their owner lives and holds
 * their locks, so that no reaper may have them: the owner itself tries again, before each run and at each sweep.
 */
import { isLaneError } from '../errors.ts';
import type { ContainmentLevel } from '../records/copies.ts';
import { captureResult } from './capture.ts';
import type { Copy } from './copy.ts';
import { eventOf } from './machine-ledger.ts';
import { readReceipt } from './outbox.ts';
import { removeCopy } from './removal.ts';
import type { Workplace } from './workplace.ts';

/** Tries every one of them again. Never rejects: what still cannot be done stays for the next time. */
export async function finishLeftOver(place: Workplace): Promise<void> {
  for (const [id, finish] of [...place.leftOver]) {
    // Two runs may come here at once: whoever takes it out has it.
    if (!place.leftOver.delete(id)) continue;
    // The trouble is in the ledger, where that can be written.
    await finish().catch(() => place.leftOver.set(id, finish));
  }
}

/** Notes a copy whose run is over and whose capture failed, where that was the disk's fault. */
export function leaveOver(place: Workplace, copy: Copy, level: ContainmentLevel, error: unknown): void {
  if (!isLaneError(error, 'disk')) return;
  place.leftOver.set(copy.id, async () => {
    // Where its result is in the outbox, the files may be half gone: they are not captured again.
    if ((await readReceipt(place, copy.id)) === null) await captureResult(place, copy, level);
    await takeDown(place, copy);
  });
}

/** A captured copy goes. A removal that fails costs disk space, never the run's result. */
export async function takeDown(place: Workplace, copy: Copy): Promise<void> {
  try {
    await removeCopy(place, copy.lock, copy);
  } catch (error) {
    if (isLaneError(error, 'disk')) place.leftOver.set(copy.id, () => takeDown(place, copy));
    const why = error instanceof Error ? error.message : String(error);
    // On the same broken disk the ledger may fail too; the copy's own record still tells its state.
    await place.ledger
      .append({ ...eventOf(place, copy.record), event: 'removal_refused', why })
      .catch(() => {});
  }
}
