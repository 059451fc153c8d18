/** Salvage: a dead owner's work is captured as its supervisor would have done. */
import type { Receipt } from '../../records/copies.ts';
import { captureWork } from '../capture.ts';
import type { Copy } from '../copy.ts';
import type { Workplace } from '../workplace.ts';

/**
 * Captures a dead owner's copy. The caller holds its lock, and no process of the run is alive.
 * @param tornPossible the machine started again since its files were written.
 * Throws as `captureWork` does: the copy must then be kept.
 */
export async function salvage(place: Workplace, copy: Copy, tornPossible: boolean): Promise<Receipt> {
  const containment = copy.record.agent?.containment ?? 'none';
  return await captureWork(place, copy, { kind: 'salvage', containment, tornPossible });
}
