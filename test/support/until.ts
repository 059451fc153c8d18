import { isLaneError } from '../../lanes/index.ts';

/** Waiting for a condition, for tests of what other processes do. Never a fixed sleep. */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined | false>,
  withinMs = 60_000,
): Promise<T> {
  const end = performance.now() + withinMs;
  for (;;) {
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > end) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** What a verb answers, and undefined as long as Redis is away or refuses; everything else is thrown. */
export async function unlessAway<T>(verb: Promise<T>): Promise<T | undefined> {
  try {
    return await verb;
  } catch (error) {
    if (isLaneError(error, 'store_unavailable') || isLaneError(error, 'store_refused')) return undefined;
    throw error;
  }
}
