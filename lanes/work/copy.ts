/**
 * Isolation copies: a private checkout for one run, owned by a kernel lock from before it can be seen until after its
 * tombstone. Objects are borrowed from the mirror through alternates; `git worktree` is never used, since what is
 * written from a worktree reaches the mirror.
 */
import { copyFile, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LaneError } from '../errors.ts';
import type { Namespace } from '../namespaces.ts';
import {
  type AgentProcess,
  type CopyRecord,
  type CopyState,
  copyIdSchema,
  copyRecordSchema,
} from '../records/copies.ts';
import { onDisk, syncFolder, writeDurably } from './files.ts';
import { git } from './git.ts';
import { type Lock, tryLock } from './lock.ts';
import { eventOf } from './machine-ledger.ts';
import { mirrorPath, pin, unpin } from './mirror.ts';
import type { Workplace } from './workplace.ts';

/** Where the parts of a copy lie. */
export interface CopyPaths {
  ctl: string;
  work: string;
  grave: string;
  ownerLock: string;
  agentLock: string;
  record: string;
  capGit: string;
  indexBase: string;
  /** The agent's io folder: task, prompt and result files. Outside the checkout, gone with the copy. */
  io: string;
}

/** A copy that this process owns: its lock is in it. */
export interface Copy {
  readonly id: string;
  readonly lock: Lock;
  readonly paths: CopyPaths;
  /** The object folder that the checkout borrows from: the agent must be able to read it. */
  readonly borrowedObjects: string;
  record: CopyRecord;
}

export interface CopyRequest {
  task: string;
  namespace: Namespace;
  run: number;
  fence: number;
  repositoryId: number;
  /** From `syncMirror`. */
  base: string;
  branch: string;
}

export function copyPaths(place: Workplace, id: string): CopyPaths {
  const ctl = join(place.ctlDir, id);
  return { ...inCtl(ctl), work: join(place.workDir, id), grave: join(place.graveDir, id) };
}

function inCtl(ctl: string) {
  return {
    ctl,
    ownerLock: join(ctl, 'owner.lock'),
    agentLock: join(ctl, 'agent.lock'),
    record: join(ctl, 'record.json'),
    capGit: join(ctl, 'cap.git'),
    indexBase: join(ctl, 'index.base'),
    io: join(ctl, 'io'),
  };
}

/**
 * Makes a copy of `base` and owns it. On failure everything it made is gone again: no agent ran in it.
 * Throws LaneError `disk`, `git_failed` or `copy_failed`, or the signal's reason.
 */
export async function createCopy(place: Workplace, request: CopyRequest, signal: AbortSignal): Promise<Copy> {
  const copy = await onDisk('cannot make a copy', () => publish(place, request));
  try {
    await place.point('create.published');
    await pin(place, request.repositoryId, copy.id, request.base);
    await place.point('create.pinned');
    await onDisk('cannot fill a copy', () => fill(copy, signal));
    await place.point('create.copied');
    await advance(copy, 'ready');
    await place.ledger.append({ ...eventOf(place, copy.record), event: 'copy_created', base: request.base });
    return copy;
  } catch (error) {
    await abandon(place, copy, error);
    throw error;
  }
}

/** Writes a copy's new state, durably. Throws LaneError `disk`. */
export async function advance(copy: Copy, state: CopyState): Promise<void> {
  await saveRecord(copy, { ...copy.record, state });
}

/** Notes durably which process the agent is: state `running`. Throws LaneError `disk`. */
export async function markRunning(copy: Copy, agent: AgentProcess): Promise<void> {
  await saveRecord(copy, { ...copy.record, state: 'running', agent });
}

async function saveRecord(copy: Copy, record: CopyRecord): Promise<void> {
  await writeDurably(copy.paths.record, `${JSON.stringify(record)}\n`);
  copy.record = record;
}

/** Makes `ctl/<id>` appear in one step, already locked: nobody ever sees a copy without an owner. */
async function publish(place: Workplace, request: CopyRequest): Promise<Copy> {
  const id = copyIdSchema.parse(place.id());
  const paths = copyPaths(place, id);
  const hidden = inCtl(join(place.ctlDir, `.new-${id}`));
  await mkdir(hidden.ctl, { mode: 0o700 });
  const lock = await tryLock(hidden.ownerLock);
  if (!lock) throw new LaneError('copy_failed', `the new lock of ${id} is taken`);
  try {
    const record = firstRecord(place, id, request);
    await writeDurably(hidden.record, `${JSON.stringify(record)}\n`);
    await mkdir(hidden.io, { mode: 0o700 });
    await place.point('create.locked');
    await rename(hidden.ctl, paths.ctl);
    await syncFolder(place.ctlDir);
    lock.movedTo(paths.ownerLock);
    const borrowedObjects = join(mirrorPath(place, request.repositoryId), 'objects');
    return { id, lock, paths, borrowedObjects, record };
  } catch (error) {
    await rm(hidden.ctl, { recursive: true, force: true });
    await lock.release();
    throw error;
  }
}

function firstRecord(place: Workplace, id: string, request: CopyRequest): CopyRecord {
  const { owner, fsType } = place;
  const fixed = { v: 1, id, state: 'creating', owner, agent: null, fsType, at: place.now() };
  return copyRecordSchema.parse({ ...request, ...fixed });
}

async function fill(copy: Copy, signal: AbortSignal): Promise<void> {
  const { work, capGit, indexBase } = copy.paths;
  const { base, branch } = copy.record;
  await mkdir(work, { mode: 0o700 });
  await initBorrowing(work, [`--initial-branch=${branch}`], join(work, '.git'), copy.borrowedObjects);
  await initBorrowing(work, ['--bare', capGit], capGit, copy.borrowedObjects);
  const inCopy = { cwd: work, signal };
  await git({ ...inCopy, args: ['update-ref', `refs/heads/${branch}`, base] });
  await git({ ...inCopy, args: ['read-tree', '-m', '-u', base] });
  await git({ ...inCopy, args: ['config', 'user.name', 'Lanekeeper agent'] });
  await git({ ...inCopy, args: ['config', 'user.email', 'agent@lanekeeper.invalid'] });
  await copyFile(join(work, '.git', 'index'), indexBase);
}

async function initBorrowing(cwd: string, how: string[], gitDir: string, objects: string): Promise<void> {
  await git({ args: ['init', '--quiet', '--template=', ...how], cwd });
  await mkdir(join(gitDir, 'objects', 'info'), { recursive: true });
  await writeFile(join(gitDir, 'objects', 'info', 'alternates'), `${objects}\n`);
}

/** Takes a copy back in which nothing ever ran. What cannot be taken back is left, unlocked, for the sweep. */
async function abandon(place: Workplace, copy: Copy, reason: unknown): Promise<void> {
  const why = reason instanceof Error ? reason.message : String(reason);
  try {
    await rm(copy.paths.work, { recursive: true, force: true });
    await unpin(place, copy.record.repositoryId, copy.id);
    await rm(copy.paths.ctl, { recursive: true, force: true });
    await place.ledger.append({ ...eventOf(place, copy.record), event: 'copy_abandoned', why });
  } catch {
    // The first failure is the one to report; the sweep finds the rest by its record.
  } finally {
    await copy.lock.release();
  }
}
