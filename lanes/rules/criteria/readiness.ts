/** Whether a reading is enough to start work on, or which question goes to a person. */
import { MAX_CRITERIA } from './bounds.ts';
import type { CriteriaReading } from './types.ts';

export type Readiness =
  | { kind: 'ready' }
  | { kind: 'too_many'; found: number; limit: number }
  /** Only template text that nobody filled in. */
  | { kind: 'placeholders'; texts: readonly string[] }
  /** The section only links to criteria elsewhere. */
  | { kind: 'external'; links: readonly string[] }
  /** No section; these task items could be meant. */
  | { kind: 'proposal'; texts: readonly string[] }
  | { kind: 'none' };

/** Decide whether criteria can be used. Nothing but `ready` may start an agent or close an issue. */
export function readiness(reading: CriteriaReading): Readiness {
  const found = reading.criteria.length;
  if (found > MAX_CRITERIA) return { kind: 'too_many', found, limit: MAX_CRITERIA };
  if (found > 0) return { kind: 'ready' };
  if (reading.placeholders?.length) return { kind: 'placeholders', texts: reading.placeholders };
  if (reading.external?.length) return { kind: 'external', links: reading.external };
  if (reading.fallbackTasklist?.length) return { kind: 'proposal', texts: reading.fallbackTasklist };
  return { kind: 'none' };
}
