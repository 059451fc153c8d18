/** A tree that runs: its end is waited for or made, and then every process of it is looked for until none is left. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readlink } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { LaneError } from '../../errors.ts';
import type { AgentProcess } from '../../records/copies.ts';
import { isContained } from '../containment/levels.ts';
import { cgroupOf, startTimeOf } from '../identity.ts';
import { lockForAgent } from '../lock.ts';
import { killCgroup, type RunCgroup, removeCgroup } from './cgroup.ts';
import { endingOf, reasonOf } from './ending.ts';
import { type FoundProcess, findRun, isInside, type RunTraces, signalProcess } from './find.ts';
import { freezeRun } from './freeze.ts';
import { RUN_OVER, type TreeEnding, type TreeRequest, type TreeResult } from './request.ts';
import { TailReader } from './tail.ts';

/** How often, and how far apart, a tree is looked for and killed before it counts as not ended. */
const END_ROUNDS = 200;
const END_PAUSE_MS = 25;
/** How often a contained tree that ended by itself is looked for before it is killed: its first process goes last. */
const PATIENT_ROUNDS = 4;

export interface StartedChild {
  process: ChildProcess;
  pid: number;
  /** The control group that it runs in, where it has one of its own. */
  cgroup: RunCgroup | null;
  stdout: Readable;
  stderr: Readable;
}

export class RunningTree {
  readonly #request: TreeRequest;
  readonly #child: ChildProcess;
  readonly #pid: number;
  readonly #cgroup: RunCgroup | null;
  readonly #exited: Promise<TreeEnding>;
  readonly #outputEnded: Promise<unknown>;
  readonly #stdout: TailReader;
  readonly #stderr: TailReader;
  #failure: unknown = null;

  constructor(request: TreeRequest, child: StartedChild) {
    const { process: started, pid, cgroup } = child;
    this.#request = request;
    this.#cgroup = cgroup;
    this.#child = started;
    this.#pid = pid;
    this.#stdout = new TailReader(child.stdout);
    this.#stderr = new TailReader(child.stderr);
    this.#exited = once(started, 'exit').then(([code, signal]) => endingOf(code, signal, request.level));
    this.#outputEnded = once(started, 'close');
  }

  async finish(): Promise<TreeResult> {
    const traces = await this.#traces();
    await this.#attempt(async () => await this.#request.spawned(await this.#identity()));
    const ending = await this.#ending(traces);
    await this.#endAll(traces, ending.kind);
    await this.#outputEnded;
    if (this.#failure !== null) throw this.#failure;
    return { ending, stdout: this.#stdout.read(), stderr: this.#stderr.read() };
  }

  /** Waits for the end, or makes it: SIGINT, then grace. What is left after that is killed by `#endAll`. */
  async #ending(traces: RunTraces): Promise<TreeEnding> {
    const { timeoutMs, graceMs, signal } = this.#request;
    const cleanUp = new AbortController();
    const deadline = this.#after(timeoutMs, cleanUp.signal, { kind: 'timeout', afterMs: timeoutMs });
    const stop = this.#stopped(signal, cleanUp.signal);
    const beside = this.#beside(traces);
    const first = this.#failure === null ? await Promise.race([this.#exited, deadline, stop]) : failed;
    await beside.end();
    if (first.kind === 'timeout' || first.kind === 'stopped') {
      await this.#interrupt(traces, first.kind);
      await Promise.race([this.#exited, this.#after(graceMs, cleanUp.signal, first)]);
    }
    cleanUp.abort();
    return first;
  }

  #beside(traces: RunTraces): { end(): Promise<void> } {
    const { beside } = this.#request;
    const over = new AbortController();
    const live = { freeze: () => freezeRun(traces) };
    const running = beside && this.#failure === null ? this.#attempt(() => beside(live, over.signal)) : null;
    return {
      end: async () => {
        over.abort(RUN_OVER);
        await running;
      },
    };
  }

  async #interrupt(traces: RunTraces, why: string): Promise<void> {
    await this.#attempt(() => this.#request.killIntent('SIGINT', why));
    for (const found of await findRun(traces)) {
      const isAgent = !isContained(this.#request.level) || (await isInside(found.pid));
      if (isAgent) await signalProcess(found, 'SIGINT');
    }
  }

  async #endAll(traces: RunTraces, why: string): Promise<void> {
    const endedItself = why === 'exit' || why === 'signal';
    const patience = endedItself && isContained(this.#request.level) ? PATIENT_ROUNDS : 0;
    let told = false;
    for (let round = 0; round < END_ROUNDS; round++) {
      const left = await findRun(traces);
      if (left.length === 0 && (await this.#lockIsFree()) && (await this.#groupIsGone())) return;
      if (left.length > 0 && round >= patience) {
        if (!told) await this.#attempt(() => this.#request.killIntent('SIGKILL', why));
        told = true;
        await this.#kill(left);
      }
      await delay(END_PAUSE_MS);
    }
    throw new LaneError('tree_not_ended', `run ${this.#request.marker}`);
  }

  async #kill(left: readonly FoundProcess[]): Promise<void> {
    if (this.#cgroup) await killCgroup(this.#cgroup);
    // The whole group at once, while its number is surely still its own: a fork between two kills would escape.
    if (this.#child.exitCode === null && this.#child.signalCode === null) killGroup(this.#pid);
    for (const found of left) await signalProcess(found, 'SIGKILL');
  }

  async #lockIsFree(): Promise<boolean> {
    const lock = await lockForAgent(this.#request.agentLock);
    await lock?.close();
    return lock !== null;
  }

  async #groupIsGone(): Promise<boolean> {
    return this.#cgroup === null || (await removeCgroup(this.#cgroup));
  }

  async #traces(): Promise<RunTraces> {
    const { marker, folders, agentLock } = this.#request;
    const streams = [1, 2].map((fd) => readlink(`/proc/${this.#pid}/fd/${fd}`).catch(() => ''));
    const own = (await Promise.all(streams)).filter((link) => /^(?:socket|pipe):/.test(link));
    // A process that is gone already has no start time; then every process is looked at.
    const since = Number((await startTimeOf(this.#pid)) ?? 0);
    return { marker, folders, group: this.#pid, descriptors: new Set([agentLock, ...own]), since };
  }

  async #identity(): Promise<AgentProcess> {
    const own = this.#cgroup?.line;
    const [startTime, cgroup] = await Promise.all([startTimeOf(this.#pid), own ?? cgroupOf(this.#pid)]);
    return { pid: this.#pid, startTime: startTime ?? 'unknown', cgroup, containment: this.#request.level };
  }

  async #after(ms: number, signal: AbortSignal, ending: TreeEnding): Promise<TreeEnding> {
    await delay(ms, undefined, { signal }).catch(() => {});
    return ending;
  }

  async #stopped(signal: AbortSignal, cleanUp: AbortSignal): Promise<TreeEnding> {
    if (!signal.aborted) await once(signal, 'abort', { signal: cleanUp }).catch(() => {});
    return { kind: 'stopped', why: reasonOf(signal) };
  }

  /** A record that cannot be written must not keep a process alive: the first error waits until the tree is gone. */
  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#failure ??= error;
    }
  }
}

const failed: TreeEnding = { kind: 'stopped', why: 'its start could not be recorded' };

function killGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // Nobody is left in it.
  }
}
