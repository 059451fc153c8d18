/** How a process ended, in our words. */
import { constants } from 'node:os';
import type { ContainmentLevel } from '../../records/copies.ts';
import { isContained } from '../containment/levels.ts';
import type { TreeEnding } from './request.ts';

/** In containment a shell or bubblewrap reports a death by signal n as exit code 128 + n. */
export function endingOf(code: number | null, signal: string | null, level: ContainmentLevel): TreeEnding {
  if (signal !== null) return { kind: 'signal', signal };
  const known = Object.entries(constants.signals).find(([, number]) => code === 128 + number);
  if (isContained(level) && known) return { kind: 'signal', signal: known[0] };
  return { kind: 'exit', code: code ?? 1 };
}

/** The reason of an abort as a text. */
export function reasonOf(signal: AbortSignal): string {
  const { reason } = signal;
  return reason instanceof Error ? reason.message : String(reason);
}
