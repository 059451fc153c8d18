/**
 * Runs a lane's checks as proof: each once per run, each in a clean checkout of its own, contained like an agent, since
 * it runs code that an agent may have written. Two checks never share a folder: the first could prepare the second.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Check } from '../../records/config.ts';
import type { Environment } from '../environment.ts';
import { makeEnvironment } from '../environment.ts';
import { onDisk } from '../files.ts';
import type { TreeEnding } from '../process-tree.ts';
import type { RunContained } from '../run-contained.ts';
import { makeProgramFolders } from '../task-files.ts';
import type { CheckOutcome } from './evidence.ts';
import { checkOut, type ProofTree } from './tree.ts';

export interface CheckRoom {
  readonly tree: ProofTree;
  readonly checks: Readonly<Record<string, Check>>;
  /** A folder of this run, under its copy's lock, for the clean checkouts. */
  readonly proofDir: string;
  readonly worker: Environment;
  readonly run: RunContained;
  readonly signal: AbortSignal;
}

const minuteMs = 60_000;

/** A function that runs a check by its name, once, and remembers what it showed. */
export function checkRunner(room: CheckRoom): (name: string) => Promise<CheckOutcome> {
  const shown = new Map<string, Promise<CheckOutcome>>();
  return (name) => {
    const outcome = shown.get(name) ?? runCheck(room, name, shown.size);
    shown.set(name, outcome);
    return outcome;
  };
}

async function runCheck(room: CheckRoom, name: string, index: number): Promise<CheckOutcome> {
  const check = room.checks[name];
  if (check === undefined) return { passed: false, how: 'the lane has no check of this name' };
  const folder = join(room.proofDir, String(index));
  const workDir = join(folder, 'work');
  const ioDir = join(folder, 'io');
  await onDisk('cannot prepare a check', () => mkdir(ioDir, { recursive: true, mode: 0o700 }));
  await checkOut(room.tree, workDir, room.signal);
  await makeProgramFolders(ioDir);
  const end = await room.run({
    argv: check.run,
    workDir,
    ioDir,
    readableDirs: room.tree.objectDirs,
    env: makeEnvironment({ worker: room.worker, names: [], ioDir, own: {} }),
    stdinFile: null,
    timeoutMs: Math.ceil(check.timeoutMinutes * minuteMs),
    signal: room.signal,
    isAgent: false,
  });
  room.signal.throwIfAborted();
  return describe(end.ending, check, room.tree.subject.name);
}

function describe(end: TreeEnding, check: Check, subject: string): CheckOutcome {
  const where = `on a clean checkout of ${subject}`;
  switch (end.kind) {
    case 'exit':
      if (end.code === 0) return { passed: true, how: `passed ${where}` };
      return { passed: false, how: `failed with exit ${end.code} ${where}` };
    case 'signal':
      return { passed: false, how: `was ended by ${end.signal} ${where}` };
    case 'timeout':
      return { passed: false, how: `did not end within ${check.timeoutMinutes} minutes ${where}` };
    case 'stopped':
      return { passed: false, how: `was stopped ${where}` };
    case 'spawn_failed':
      return { passed: false, how: 'could not be started on this worker' };
  }
}
