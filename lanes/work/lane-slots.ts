/**
 * How many runs of each lane may go on at once. Lanes that share a namespace share its wake-ups, so the bound of the
 * namespace alone would let one lane take the room of another.
 */
import type { Lane } from '../records/config.ts';

export class LaneSlots {
  readonly #free: Map<string, number>;
  /** The most runs of all lanes together. */
  readonly concurrency: number;

  constructor(lanes: readonly Pick<Lane, 'name' | 'concurrency'>[]) {
    this.#free = new Map(lanes.map(({ name, concurrency }) => [name, concurrency]));
    this.concurrency = lanes.reduce((sum, { concurrency }) => sum + concurrency, 0);
  }

  /** Takes a slot of the lane; the function that comes back frees it, once. Null where the lane is full. */
  take(lane: string): (() => void) | null {
    const free = this.#free.get(lane) ?? 0;
    if (free === 0) return null;
    this.#free.set(lane, free - 1);
    return () => this.#free.set(lane, (this.#free.get(lane) ?? 0) + 1);
  }
}
