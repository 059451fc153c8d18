/** Tells the demo's story: one line a step, with the seconds since the start. With `--json` it tells it on stderr. */
export interface Narrator {
  say(who: string, what: string): void;
  heading(text: string): void;
}

/** @param write where the lines go @param now Unix milliseconds */
export function makeNarrator(write: (line: string) => void, now: () => number): Narrator {
  const startMs = now();
  const clock = () => `${((now() - startMs) / 1000).toFixed(1).padStart(5)} s`;
  return {
    say: (who, what) => write(`${clock()}  ${who.padEnd(11)} ${what}`),
    heading: (text) => write(`\n${text}\n${'─'.repeat(text.length)}`),
  };
}
