/** One data directory with its mirror for a whole file of tests, and real processes at work in it. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { parseNamespace } from '../../../../lanes/namespaces.ts';
import { type Copy, createCopy } from '../../../../lanes/work/copy.ts';
import { processStat } from '../../../../lanes/work/identity.ts';
import { syncMirror } from '../../../../lanes/work/mirror.ts';
import { openWorkplace, type Workplace } from '../../../../lanes/work/workplace.ts';
import { builtProgram } from '../../../support/programs.ts';
import { until } from '../../../support/until.ts';
import type { Order, Start } from '../agents/forced.ts';
import { forever, put, sh } from '../support.ts';
import { deadPlace } from './support.ts';

let ids = 0;

export interface Scene {
  readonly folder: string;
  /** In the hands of the tests' own process. */
  readonly place: Workplace;
  readonly acks: string;
  /** A copy whose owner does not exist any more, after `work` was done in it. */
  deadCopy(work?: (copy: Copy, owner: Workplace) => Promise<void> | void): Promise<Copy>;
  start(role: Start['role'], instance: string, wrapper?: readonly string[]): Promise<Program>;
  close(): void;
}

export async function makeScene(): Promise<Scene> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'lanekeeper-sweep-')));
  const remote = join(folder, 'remote');
  mkdirSync(remote);
  sh(remote, 'git', 'init', '-q', '-b', 'trunk', '.');
  put(remote, 'a.txt', 'a\n');
  sh(remote, 'git', 'add', '-A');
  sh(remote, 'git', 'commit', '-q', '-m', 'base');
  const acks = join(folder, 'acks');
  mkdirSync(acks);
  const dataDir = join(folder, 'data');
  const steady = { now: Date.now, id: () => `id-${ids++}-${process.pid}` };
  const place = await openWorkplace({ dataDir, instance: 'worker-a', ...steady });
  const synced = await syncMirror(place, { repositoryId: 7, cloneUrl: `file://${remote}` }, forever);
  if (synced.kind !== 'synced') throw new Error(synced.kind);
  const { base, branch } = synced;
  const whose = { task: 'task0000001', namespace: parseNamespace('lane:triage'), run: 1, fence: 1 };
  const request = { ...whose, repositoryId: 7, base, branch };
  const programs: Program[] = [];
  return {
    ...{ folder, place, acks },
    async deadCopy(work = () => {}) {
      const owner = deadPlace(place);
      const copy = await createCopy(owner, request, forever);
      await work(copy, owner);
      await copy.lock.release();
      return copy;
    },
    async start(role, instance, wrapper = []) {
      const about: Start = { role, dataDir, instance, base, branch, acks };
      const program = await Program.start([...wrapper, process.execPath, builtProgram('forced')], about);
      programs.push(program);
      return program;
    },
    close() {
      for (const program of programs) program.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A line of `forced.ts`. */
// biome-ignore lint/suspicious/noExplicitAny: told apart by the tests that read them
type Line = Record<string, any>;

export class Program {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;
  /** Of the owner or reaper that it is. */
  uuid = '';

  private constructor(child: ChildProcessByStdio<Writable, Readable, null>) {
    this.#child = child;
    this.#lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  }

  static async start(command: readonly string[], about: Start): Promise<Program> {
    const [file = '', ...args] = command;
    const child = spawn(file, [...args, JSON.stringify(about)], { stdio: ['pipe', 'pipe', 'inherit'] });
    const program = new Program(child);
    program.uuid = (await program.next()).ready;
    return program;
  }

  order(order: Order): void {
    this.#child.stdin.write(`${JSON.stringify(order)}\n`);
  }

  async next(): Promise<Line> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('the program ended');
    return JSON.parse(value);
  }

  /** Until the kernel has stopped it. */
  async stopped(): Promise<void> {
    const pid = this.#child.pid ?? 0;
    await until('it is stopped', async () => (await processStat(pid))?.state === 'T');
  }

  goOn(): void {
    this.#child.kill('SIGCONT');
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Until it is gone, in fact and for its parent. */
  async gone(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit');
  }
}

/** The patch that an outcome names, as text. */
export function patchOf(place: Workplace, id: string, kind: 'result' | 'salvage'): string {
  return readFileSync(join(place.outboxDir, `${id}.${kind}.patch`), 'utf8');
}
