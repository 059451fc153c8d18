/** Ids of criteria: short enough to type, opaque, and never used twice on an issue. */
import type { Criterion } from '../../records/criteria.ts';

/** Characters that are not mistaken for one another. */
const letters = 'abcdefghjkmnpqrstuvwxyz';
const alphabet = `${letters}23456789`;

export interface Minter {
  /** The next id. */
  mint(): string;
  /** How many were minted in all, to be kept. */
  minted(): number;
}

/**
 * Mints ids for one issue. `hash` gives hexadecimal text for a text; `seed` names the issue; `known` are all criteria
 * that it ever had.
 */
export function makeMinter(
  seed: string,
  minted: number,
  known: readonly Criterion[],
  hash: (text: string) => string,
): Minter {
  const used = new Set(known.map((criterion) => criterion.id));
  let count = minted;
  const candidate = (): string => {
    count += 1;
    const bytes = hash(`${seed}:${count}`);
    const digit = (index: number, from: string): string =>
      from.charAt(Number.parseInt(bytes.slice(index * 4, index * 4 + 4), 16) % from.length);
    return `${digit(0, letters)}${digit(1, alphabet)}${digit(2, alphabet)}${digit(3, alphabet)}`;
  };
  return {
    mint() {
      let id = candidate();
      while (used.has(id)) id = candidate();
      used.add(id);
      return id;
    },
    minted: () => count,
  };
}
