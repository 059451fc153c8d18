/**
 * From what went wrong around a run to how the run ends: what only a person can mend is `unable`, everything else is a
 * death that is tried again. Nothing stays an exception.
 */
import { LaneError } from '../errors.ts';
import { type RunEnd, unableReasonSchema } from '../records/runs.ts';
import { clip } from './text.ts';

type FailedEnd = Extract<RunEnd, { kind: 'died' | 'unable' }>;

/**
 * The end of a run that an error ended.
 * @param hidden a folder of the worker whose name goes to nobody outside it
 */
export function endOfFailure(error: unknown, hidden: string): FailedEnd {
  const code = error instanceof LaneError ? error.code : 'unexpected';
  const words = error instanceof Error ? error.message : String(error);
  const why = clip(words.replaceAll(hidden, '<data>'), 2_000);
  const unable = unableReasonSchema.safeParse(code);
  if (unable.success) return { kind: 'unable', reason: unable.data, detail: why };
  if (code === 'lease_lost') return { kind: 'died', death: { kind: 'lease_lost' }, tail: '' };
  return { kind: 'died', death: { kind: 'failed', code, why }, tail: '' };
}
