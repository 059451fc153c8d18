/** Waiting, as something that is handed in: tests wait for nothing. */
import { setTimeout as pause } from 'node:timers/promises';

/** Waits, or returns early once the signal aborts. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

export const byTheClock: Sleep = (ms, signal) => pause(ms, undefined, { signal }).catch(() => {});
