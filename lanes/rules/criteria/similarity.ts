/** How alike two texts are. Bounded: long texts are compared by their beginning. */

const MAX_CHARS = 400;
/** Words that nearly every sentence has: sharing them is no likeness. */
const COMMON = new Set(
  'a an the of to in for be can is are and or on at by with must should it its that this as from der die das und ist ein eine le la les un une et est el los en que de o os um uma e il i'.split(
    ' ',
  ),
);

/** Precomputed shape of one text, so that comparing many pairs stays cheap. */
export type Shape = {
  words: Map<string, number>;
  wordCount: number;
  pairs: Map<string, number>;
  pairCount: number;
};

/** Shape of an already normalised text. */
export function shapeOf(normalised: string): Shape {
  const text = normalised.slice(0, MAX_CHARS);
  const all = text.split(/[^\p{L}\p{N}\p{M}]+/u).filter(Boolean);
  const telling = all.filter((word) => !COMMON.has(word));
  const words = (telling.length > 0 ? telling : all).map(stem);
  const letters = all.map(stem).join(' ');
  const pairs: string[] = [];
  for (let index = 0; index + 1 < letters.length; index += 1) pairs.push(letters.slice(index, index + 2));
  return { words: bag(words), wordCount: words.length, pairs: bag(pairs), pairCount: pairs.length };
}

/** Plural and verb endings do not make another word. */
function stem(word: string): string {
  return word.length > 4 ? word.replace(/(?:ing|ed|es|s)$/u, '') : word;
}

function bag(items: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

/** Letters that agree prove a little less than words that agree. */
const PAIR_WEIGHT = 0.95;

/** Dice's coefficient over words or over letter pairs, whichever says more: 0 (nothing shared) to 1. */
export function similarity(a: Shape, b: Shape): number {
  const words = dice(a.words, a.wordCount, b.words, b.wordCount);
  return Math.max(words, PAIR_WEIGHT * dice(a.pairs, a.pairCount, b.pairs, b.pairCount));
}

function dice(a: Map<string, number>, countA: number, b: Map<string, number>, countB: number): number {
  if (countA + countB === 0) return 0;
  let shared = 0;
  for (const [item, count] of a) shared += Math.min(count, b.get(item) ?? 0);
  return (2 * shared) / (countA + countB);
}

/** Whether two texts have a word in common, or enough letters where words are not spaced. */
export function sharesWord(a: Shape, b: Shape): boolean {
  for (const word of a.words.keys()) if (word.length > 3 && b.words.has(word)) return true;
  return dice(a.pairs, a.pairCount, b.pairs, b.pairCount) >= 0.4;
}

/** Edits (insert, delete, replace, swap neighbours) between two short strings; null if more than `limit`. */
export function editDistance(a: string, b: string, limit: number): number | null {
  if (limit < 0 || Math.abs(a.length - b.length) > limit) return null;
  let older: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, (older[j - 2] ?? 0) + 1);
      row.push(best);
    }
    if (Math.min(...row) > limit) return null;
    older = previous;
    previous = row;
  }
  const distance = previous[b.length] ?? 0;
  return distance <= limit ? distance : null;
}
