/**
 * Faults of the API on demand; none unless a test asks.
 */
import { Refusal } from './call.ts';

export interface FaultWish {
  /** An HTTP method; left out, any. */
  method?: string;
  /** Tried against the path without query and `/api/v3`. */
  path: RegExp;
  /** How many requests it hits; default 1. */
  times?: number;
  /**
   * 502 though the write happened; 502 with nothing done; the secondary limit's 403; the answer late; the connection
   * cut with nothing done.
   */
  kind: '502_after_write' | '502_before' | '403_retry_after' | 'slow' | 'drop';
  /** For `slow`; default 1,000. */
  delayMs?: number;
  /** For `403_retry_after`; default 1. */
  retryAfterS?: number;
}

/** A fault that was set: how often it hit, and a way to take it back. */
export interface Fault {
  hits(): number;
  clear(): void;
}

export class Faults {
  readonly #active: Array<{ wish: FaultWish; left: number; hits: number }> = [];

  add(wish: FaultWish): Fault {
    const entry = { wish, left: wish.times ?? 1, hits: 0 };
    this.#active.push(entry);
    return {
      hits: () => entry.hits,
      clear: () => {
        entry.left = 0;
      },
    };
  }

  clear(): void {
    for (const entry of this.#active) entry.left = 0;
  }

  /** The fault that hits this request, if any; it is used up by one. */
  take(method: string, path: string): FaultWish | undefined {
    const fits = ({ wish }: { wish: FaultWish }) =>
      (wish.method ?? method).toUpperCase() === method && wish.path.test(path);
    const found = this.#active.find((entry) => entry.left > 0 && fits(entry));
    if (!found) return undefined;
    found.left--;
    found.hits++;
    return found.wish;
  }
}

export function badGateway(): Refusal {
  return new Refusal(502, 'Server Error');
}

/** The answer to whoever met the secondary rate limit. */
export function secondaryLimit(retryAfterS: number): Refusal {
  const message = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';
  return new Refusal(403, message, {}, { 'retry-after': String(retryAfterS) });
}
