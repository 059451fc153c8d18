/**
 * Refusals on their way from the engine to the ledger: all are counted, and of each identity and code a few a second are
 * written down in full. A worker in a loop is refused thousands of times a second, and must not fill what others read.
 */
import type { Logger } from 'pino';
import type { RefusalBatch, RefusalEvent } from '../lanes/index.ts';

export interface RefusalLog {
  /** Takes note of one. It never throws, and returns at once. */
  hear(refusal: RefusalEvent): void;
  /** Takes note of what another process of ours has heard, as `identity`'s. */
  take(batch: RefusalBatch, identity: string): void;
  /** Writes what is left. */
  stop(): Promise<void>;
}

export interface RefusalLogDeps {
  /** Makes a batch durable. Where it fails, that is logged, and the batch with it. */
  readonly write: (batch: RefusalBatch) => Promise<void>;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Pick<Logger, 'warn'>;
}

/** Of one identity and code, in one second. */
const writtenPerSecond = 10;
/** How many identities and codes are told apart in one second, and how many events wait to be written. */
const mostAtOnce = 1_000;
/** What is heard meanwhile is written together. */
const gatherMs = 100;

export function makeRefusalLog(deps: RefusalLogDeps): RefusalLog {
  return new Log(deps);
}

class Log implements RefusalLog {
  readonly #deps: RefusalLogDeps;
  #events: RefusalEvent[] = [];
  #counts = new Map<RefusalEvent['code'], number>();
  #second = 0;
  #written = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(deps: RefusalLogDeps) {
    this.#deps = deps;
  }

  // Arrows, because they are handed on as functions.
  readonly hear = (refusal: RefusalEvent): void => {
    this.#count(refusal.code, 1);
    if (this.#mayWrite(refusal)) this.#events.push(refusal);
  };

  take({ events, counts }: RefusalBatch, identity: string): void {
    for (const event of events) {
      const refusal = { ...event, by: identity };
      if (this.#mayWrite(refusal)) this.#events.push(refusal);
    }
    for (const [code, times] of Object.entries(counts)) this.#count(code as RefusalEvent['code'], times);
  }

  readonly stop = async (): Promise<void> => {
    clearTimeout(this.#timer);
    this.#flush();
    await this.#writing;
  };

  #count(code: RefusalEvent['code'], times: number): void {
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + times);
    this.#timer ??= setTimeout(() => this.#flush(), gatherMs);
  }

  #mayWrite({ by, code }: RefusalEvent): boolean {
    const second = Math.floor(this.#deps.now() / 1_000);
    if (second !== this.#second) this.#written = new Map();
    this.#second = second;
    const key = `${code} ${by}`;
    const before = this.#written.get(key) ?? 0;
    if (before >= writtenPerSecond || this.#events.length >= mostAtOnce) return false;
    if (before === 0 && this.#written.size >= mostAtOnce) return false;
    this.#written.set(key, before + 1);
    return true;
  }

  #flush(): void {
    this.#timer = undefined;
    if (this.#counts.size === 0) return;
    const batch = { events: this.#events, counts: Object.fromEntries(this.#counts) };
    this.#events = [];
    this.#counts = new Map();
    this.#writing = this.#writing.then(() => this.#write(batch));
  }

  async #write(batch: RefusalBatch): Promise<void> {
    try {
      await this.#deps.write(batch);
    } catch (error) {
      this.#deps.log.warn({ err: error, ...batch }, 'refusals could not be written down');
    }
  }
}
