/** Carries out what was decided about one copy, under its lock, through to the end. */
import { isLaneError } from '../../errors.ts';
import type { RemovalReason, Takeover, Tombstone } from '../../records/copies.ts';
import { type CopyFacts, nextStep } from '../../rules/sweep.ts';
import { clearRecords, removeTree } from '../clear.ts';
import type { Copy } from '../copy.ts';
import { eventOf } from '../machine-ledger.ts';
import { readReceipt } from '../outbox.ts';
import { endOrphan } from '../process-tree/orphans.ts';
import { moveToGrave, removeFor } from '../removal.ts';
import type { Workplace } from '../workplace.ts';
import { noteDeath } from './death.ts';
import { copyOf, inGrave, type Look, lookAgain } from './look.ts';
import { putInQuarantine } from './quarantine.ts';
import { salvage } from './salvage.ts';
import { takeOver, wasTakenOver } from './takeover.ts';

/** How long the processes of a dead owner's run are ended before its copy is put in quarantine. */
const END_WAIT_MS = 5_000;

export type Ending =
  | { readonly kind: 'live' | 'reported' | 'quarantined' | 'cleared'; readonly why: string }
  | { readonly kind: 'removed'; readonly tombstone: Tombstone };

/** Throws where the copy can neither be removed nor put in quarantine now: it is kept, and the next sweep tries again. */
export async function carryOut(place: Workplace, look: Look): Promise<Ending> {
  const { entry, record, lock } = look;
  const { step, why } = look.decision;
  if (step === 'skip_live') return { kind: 'live', why };
  if (step === 'report' || step === 'conflict') return { kind: 'reported', why };
  if (step === 'keep_quarantined') return { kind: 'quarantined', why };
  if (step === 'clear_dead') {
    await removeTree(entry.paths.ctl);
    return { kind: 'cleared', why };
  }
  // Without a lock or a record no decision leads here.
  if (lock === null) return { kind: 'reported', why };
  if (step === 'clear_unpublished') {
    await clearRecords(place, entry);
    return { kind: 'cleared', why };
  }
  if (record === null) return { kind: 'reported', why };
  const copy = copyOf(place, entry, record, lock);
  if (step === 'quarantine') return await quarantine(place, copy, why);
  return await takeAway(place, look, copy);
}

/** End what runs, move the files away, end what still writes, capture, remove. */
async function takeAway(place: Workplace, look: Look, copy: Copy): Promise<Ending> {
  if (!(await wasTakenOver(copy))) await noteDeath(place, copy, look);
  const takeover = await takeOver(place, copy);
  await place.point('sweep.locked');
  if (!(await endProcesses(place, copy))) return await quarantine(place, copy, outlived);
  await place.point('sweep.quiet');
  await moveToGrave(place, copy);
  await place.point('sweep.moved');
  const moved = inGrave(copy);
  // What had a file open has it still, wherever the file lies.
  if (!(await endProcesses(place, moved))) return await quarantine(place, moved, outlived);
  let facts = await lookAgain(place, look, moved);
  if (nextStep(facts).step === 'salvage') {
    const failure = await salvageOrSay(place, moved, look);
    if (failure !== null) return await quarantine(place, moved, failure);
    facts = await lookAgain(place, look, moved);
  }
  const { step, why } = nextStep(facts);
  if (step !== 'remove' && step !== 'resume_removal') return await quarantine(place, moved, why);
  return { kind: 'removed', tombstone: await remove(place, moved, takeover, facts) };
}

const outlived = 'processes of its run are alive and could not be ended';

/** Ends what is left of the run; false where something outlives every kill. */
export async function endProcesses(place: Workplace, copy: Copy): Promise<boolean> {
  const { work, grave, io, agentLock } = copy.paths;
  const { agent, owner } = copy.record;
  const killIntent = () =>
    place.ledger.append({
      ...{ ...eventOf(place, copy.record), event: 'kill_intent', signal: 'SIGKILL' },
      why: 'its supervisor is dead',
    });
  const orphan = { marker: copy.id, folders: [work, grave, io], agentLock, agent, owner };
  return (await endOrphan({ ...orphan, waitMs: END_WAIT_MS, killIntent })) === 'gone';
}

/** Null, or why it failed. A broken disk is no reason for quarantine: it is tried again when the disk is mended. */
async function salvageOrSay(place: Workplace, copy: Copy, { owner }: Look): Promise<string | null> {
  try {
    await salvage(place, copy, owner?.kind === 'dead' && owner.rebooted);
    return null;
  } catch (error) {
    if (isLaneError(error, 'disk')) throw error;
    return `its work could not be captured: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function remove(
  place: Workplace,
  copy: Copy,
  { reapers, priorState }: Takeover,
  { saved }: CopyFacts,
): Promise<Tombstone> {
  const receipt = saved && (await readReceipt(place, copy.id, saved));
  const reason: RemovalReason =
    saved === 'result'
      ? 'dead_owner_captured'
      : saved === 'salvage'
        ? 'dead_owner_salvaged'
        : 'dead_owner_nothing_started';
  return await removeFor(place, copy.lock, copy, { reason, reapers, priorState, receipt });
}

async function quarantine(place: Workplace, copy: Copy, why: string): Promise<Ending> {
  await putInQuarantine(place, copy, why);
  return { kind: 'quarantined', why };
}
