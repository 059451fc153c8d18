/** Counting by name. */

export class Tally<Name extends string> {
  readonly #counts = new Map<Name, number>();

  add(name: Name): void {
    this.#counts.set(name, this.of(name) + 1);
  }

  of(name: Name): number {
    return this.#counts.get(name) ?? 0;
  }

  /** Those that were counted, by their names. */
  seen(): Partial<Record<Name, number>> {
    const entries = [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(entries) as Partial<Record<Name, number>>;
  }

  /** Each of these names, also those that were never counted. */
  all(names: readonly Name[]): Record<Name, number> {
    return Object.fromEntries(names.map((name) => [name, this.of(name)])) as Record<Name, number>;
  }

  total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }
}
