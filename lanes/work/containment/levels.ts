/** What the containment levels are worth. */
import type { ContainmentLevel } from '../../records/copies.ts';

/** Whether a level hides the host and gives the command a pid namespace; the others only see to its end. */
export function isContained(level: ContainmentLevel): boolean {
  return level === 'bwrap' || level === 'unshare';
}
