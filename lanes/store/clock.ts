/**
 * Redis's clock, as far as this process can tell: the last answer's time plus what has passed here since, monotonic.
 * Rules use it for waits and for times that people read. What grants or ends a right - a lease's end, a task's first
 * moment - is compared by the scripts with Redis's own clock.
 */
export interface RedisClock {
  /** Takes note of a time that Redis answered with, in ms. */
  observe(redisMs: number): void;
  /** The time in ms, or undefined before the first answer. */
  now(): number | undefined;
}

export function makeRedisClock(): RedisClock {
  let base: number | undefined;
  return {
    observe(redisMs) {
      base = redisMs - performance.now();
    },
    now: () => (base === undefined ? undefined : Math.round(base + performance.now())),
  };
}
