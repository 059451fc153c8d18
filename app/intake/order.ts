/** Order and limits of concurrent work: what shares a key runs one after the other. */

/** Runs work with the same key in the order of the calls, and of different keys at once as far as there are slots. */
export function makeChains(inSlot: (work: () => Promise<void>) => Promise<void>) {
  const tails = new Map<string, Promise<void>>();
  return (key: string, work: () => Promise<void>): Promise<void> => {
    const tail = (tails.get(key) ?? Promise.resolve()).then(() => inSlot(work));
    tails.set(key, tail);
    return tail.finally(() => {
      if (tails.get(key) === tail) tails.delete(key);
    });
  };
}

/** Lets `count` works run at once; the others wait in the order of their calls. */
export function makeSlots(count: number) {
  let free = count;
  const waiting: (() => void)[] = [];
  return async (work: () => Promise<void>): Promise<void> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      await work();
    } finally {
      // A slot goes straight to the one who waits longest.
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
