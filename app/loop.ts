/** A duty that is done again and again: at start, every so often, and at once when asked. Never twice at a time. */
export interface Loop {
  start(): void;
  /** The next round comes at once. */
  kick(): void;
  /** Resolves when the present round has ended; there is no other. */
  stop(): Promise<void>;
}

/**
 * `everyMs` is from the end of a round to the next; a function is asked after each round. A round that fails is told to
 * `onError` and comes again.
 */
export function makeLoop(
  round: () => Promise<unknown>,
  everyMs: number | (() => number),
  onError: (error: unknown) => void,
): Loop {
  let running: Promise<void> | undefined;
  let stopped = false;
  let wanted = false;
  let wake = (): void => {};

  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, typeof everyMs === 'number' ? everyMs : everyMs());
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const loop = async (): Promise<void> => {
    while (!stopped) {
      wanted = false;
      await round().catch(onError);
      if (!stopped && !wanted) await pause();
    }
  };

  return {
    start() {
      running ??= loop();
    },
    kick() {
      wanted = true;
      wake();
    },
    async stop() {
      stopped = true;
      wake();
      await running;
    },
  };
}
