/**
 * A namespace as a worker serves it: a serving for each of its lanes. The first refusal by Redis closes them all and is
 * told once. After that the namespace is asked for at an ever slower pace, and served again when Redis grants it again; other
 * namespaces notice nothing of it.
 */
import { isLaneError, LaneError } from '../errors.ts';
import type { Namespace } from '../namespaces.ts';
import type { Sleep } from './sleep.ts';

/** What the loop gets from the engine for one lane that it serves. */
export interface LaneServing {
  close(): Promise<void>;
  /** Resolves once it is closed and nothing is left in hand. */
  readonly closed: Promise<unknown>;
}

export interface NamespaceParts {
  readonly namespace: Namespace;
  /** Begins to serve one lane after the other. */
  readonly openLanes: readonly ((onTrouble: (error: Error) => void) => Promise<LaneServing>)[];
  /** One cheap verb in the namespace: it rejects with `store_refused` for as long as Redis refuses. */
  look(): Promise<unknown>;
  /** Hears of everything that goes wrong; of a refusal once, with the namespace in it. */
  onTrouble(error: Error): void;
  readonly sleep: Sleep;
}

/**
 * How long a namespace that was refused is left alone before it is asked for again: shortly at first, since users are
 * missing for a moment where Redis starts again without its ACL file; then twice as long each time, up to the slow pace.
 */
const firstPauseMs = 1_000;
const slowPauseMs = 30_000;

export class ServedNamespace {
  readonly #parts: NamespaceParts;
  readonly #ending = new AbortController();
  #servings: LaneServing[] = [];
  #refused = false;
  /** How long it is left alone next; 0 before the first refusal. */
  #pauseMs = 0;
  #openedAtMs = 0;
  #done: Promise<void> = Promise.resolve();

  private constructor(parts: NamespaceParts) {
    this.#parts = parts;
  }

  /** Begins to serve. @throws LaneError what the verb `serve` refuses. */
  static async open(parts: NamespaceParts): Promise<ServedNamespace> {
    const served = new ServedNamespace(parts);
    await served.#openAll();
    served.#done = served.#keepOpen();
    return served;
  }

  /** Takes no more wake-ups and waits for those in hand. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#closeAll();
    await this.#done;
  }

  async #openAll(): Promise<void> {
    this.#refused = false;
    this.#openedAtMs = performance.now();
    try {
      for (const open of this.#parts.openLanes) this.#servings.push(await open(this.#onTrouble));
    } catch (error) {
      await this.#closeAll();
      if (!isLaneError(error, 'store_refused')) throw error;
      this.#onTrouble(error);
    }
    // Closed while it opened: what was opened since would stay.
    if (this.#refused || this.#ending.signal.aborted) await this.#closeAll();
  }

  async #closeAll(): Promise<void> {
    await Promise.all(this.#servings.map((serving) => serving.close()));
  }

  readonly #onTrouble = (error: Error): void => {
    if (!isLaneError(error, 'store_refused')) this.#parts.onTrouble(error);
    // Every lane and every run in hand meets the same refusal.
    else if (!this.#refused) this.#refuse(error);
  };

  #refuse(cause: LaneError): void {
    this.#refused = true;
    void this.#closeAll();
    // Refused again right after it was granted: told already, and no reason to hurry.
    if (this.#pauseMs > 0 && performance.now() - this.#openedAtMs < slowPauseMs) return;
    this.#pauseMs = firstPauseMs;
    const { namespace, onTrouble } = this.#parts;
    const details = `${namespace} is not served until Redis grants it again`;
    onTrouble(new LaneError('store_refused', details, { cause }));
  }

  async #keepOpen(): Promise<void> {
    for (;;) {
      await Promise.all(this.#servings.map(({ closed }) => closed));
      this.#servings = [];
      if (!(await this.#grantedAgain())) return;
      await this.#openAll().catch(this.#onTrouble);
    }
  }

  /** Resolves when Redis answers in this namespace again; false where the worker ends first. */
  async #grantedAgain(): Promise<boolean> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      await this.#parts.sleep(this.#pauseMs, signal);
      this.#pauseMs = Math.min(2 * this.#pauseMs, slowPauseMs);
      if (signal.aborted) return false;
      try {
        await this.#parts.look();
        return true;
      } catch (error) {
        if (!isLaneError(error))
          this.#parts.onTrouble(error instanceof Error ? error : new Error(String(error)));
      }
    }
    return false;
  }
}
