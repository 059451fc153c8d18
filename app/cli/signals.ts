/** SIGTERM and SIGINT as signals that a command's work can listen to. */

/** How long runs may go on once we are told to stop, in ms; after that they are handed back. */
export const graceMs = 20_000;

/** Two signals within this time are one. */
const sameWishMs = 1_000;

export interface Wishes {
  /** Aborts when this process is told to end. */
  readonly stop: AbortSignal;
  /** Aborts when it is told again. */
  readonly hurry: AbortSignal;
}

/** Listens from now on. */
export function hearSignals(): Wishes {
  const stopping = new AbortController();
  const hurry = new AbortController();
  let stoppedAtMs = 0;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      // npm and the terminal may both pass on one Ctrl-C: what follows at once is no second wish.
      if (!stopping.signal.aborted) stoppedAtMs = performance.now();
      else if (performance.now() - stoppedAtMs > sameWishMs) hurry.abort(signal);
      stopping.abort(signal);
    });
  }
  return { stop: stopping.signal, hurry: hurry.signal };
}

/** Resolves with the signal's reason once it aborts. */
export function aborted(signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(String(signal.reason));
    signal.addEventListener('abort', () => resolve(String(signal.reason)), { once: true });
  });
}
