/** One process of the storm, from its start to its end: it dies as was drawn for it, or ends by itself. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Death, Stop } from './plan.ts';

export interface VictimOrder {
  readonly program: string;
  /** Given to the program as JSON. */
  readonly order: { readonly death: Death };
  readonly stop: Stop | null;
}

export interface VictimEnd {
  /** False where it ended by itself before its death came. */
  readonly killed: boolean;
  /** By `performance.now()`. */
  readonly atMs: number;
}

/** They live for seconds: what V8 does for a program that lives longer would be a third of their price. */
const shortLived = ['--no-opt', '--single-threaded', '--v8-pool-size=0'];

/** A drained process that does not end hangs: that is a finding, not a kill. */
const drainMs = 120_000;

export class Victim {
  readonly #child: ChildProcess;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly ended: Promise<VictimEnd>;
  readonly #death: Death;
  #said = '';
  #draining = false;
  #agents = 0;

  constructor({ program, order, stop }: VictimOrder) {
    const stdio = ['ignore', 'ignore', 'pipe', 'ipc'] as const;
    const options = { execArgv: shortLived, env: {}, stdio: [...stdio] };
    this.#child = fork(program, [JSON.stringify(order)], options);
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#said = `${this.#said}${chunk.toString()}`.slice(-4_000);
    });
    this.#death = order.death;
    this.#child.once('message', () => this.#isUp(stop));
    this.ended = this.#end();
  }

  /** Asks it to finish what it has in hand. Its death is called off, unless it lies at a point. */
  drain(): void {
    for (const timer of this.#timers.splice(0)) clearTimeout(timer);
    this.#child.kill('SIGCONT');
    this.#child.kill('SIGTERM');
    this.#draining = true;
    this.#after(drainMs, 'SIGABRT');
  }

  /** For a harness that gives up: nothing of it may go on. */
  abandon(): void {
    this.#child.kill('SIGKILL');
  }

  /** An agent of it is at work. */
  agentBegan(): void {
    this.#agents += 1;
    this.#killLater('agent', this.#agents);
  }

  #killLater(since: 'up' | 'agent', nth: number): void {
    const death = this.#death;
    if (death.kind === 'time' && death.since === since && death.nth === nth && !this.#draining) {
      this.#after(death.afterMs, 'SIGKILL');
    }
  }

  #isUp(stop: Stop | null): void {
    this.#killLater('up', 1);
    if (stop === null || this.#draining) return;
    this.#after(stop.afterMs, 'SIGSTOP');
    this.#after(stop.afterMs + stop.forMs, 'SIGCONT');
  }

  #after(ms: number, signal: NodeJS.Signals): void {
    this.#timers.push(setTimeout(() => this.#child.kill(signal), ms));
  }

  async #end(): Promise<VictimEnd> {
    const [code, signal] = await once(this.#child, 'exit');
    const atMs = performance.now();
    for (const timer of this.#timers) clearTimeout(timer);
    // A program that is told to finish before it listens just ends.
    const finished = code === 0 || (this.#draining && signal === 'SIGTERM');
    if (signal !== 'SIGKILL' && !finished) {
      throw new Error(`a process of the storm failed by itself (${signal ?? code}): ${this.#said}`);
    }
    return { killed: signal === 'SIGKILL', atMs };
  }
}
