/** What was probably meant: words that are a typing error away. */

const maxWordChars = 40;
const maxNear = 3;

/** Up to three of `known` within two edits of `word`, or beginning with it, the nearest first. */
export function nearest(word: string, known: readonly string[]): string[] {
  const given = word.toLowerCase().slice(0, maxWordChars);
  if (given === '') return [];
  return known
    .map((one) => ({ one, far: distance(given, one.toLowerCase().slice(0, maxWordChars)) }))
    .filter(
      ({ one, far }) => far <= Math.min(2, Math.floor(one.length / 2)) || one.toLowerCase().startsWith(given),
    )
    .sort((a, b) => a.far - b.far)
    .slice(0, maxNear)
    .map(({ one }) => one);
}

/** Edits between two short words: letters added, dropped or replaced (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
