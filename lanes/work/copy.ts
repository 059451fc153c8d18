/**
 * Isolation copies: a private checkout for one run, owned by a kernel lock from before it can be seen until after its
 * tombstone. Objects are borrowed from the mirror through alternates; `git worktree` is never used, since what is
 * written from a worktree reaches the mirror.
 */
import { mkdir, rename, rm } from 'node:fs/promises';
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
import { clearRecords } from './clear.ts';
import { errorCode, type Files, onDisk } from './files.ts';
import { fillCopy } from './fill.ts';
import { type Lock, tryLock } from './lock.ts';
import { eventOf } from './machine-ledger.ts';
import { mirrorPath } from './mirror.ts';
import { pin, unpin } from './pins.ts';
import type { Workplace } from './workplace.ts';

/** A sweep would have to come in the same few milliseconds each time. */
const HIDDEN_ATTEMPTS = 10;
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
  readonly files: Files;
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

/** The parts of a copy in its `ctl` folder, whatever name that has now. */
export function inCtl(ctl: string) {
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
    await onDisk('cannot fill a copy', () => fillCopy(copy, signal));
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
  await copy.files.writeDurably(copy.paths.record, `${JSON.stringify(record)}\n`);
  copy.record = record;
}

/** Makes `ctl/<id>` appear in one step, already locked: nobody ever sees a copy without an owner. */
async function publish(place: Workplace, request: CopyRequest): Promise<Copy> {
  const { id, hidden, lock } = await hiddenFolder(place);
  const paths = copyPaths(place, id);
  let { ctl } = hidden;
  try {
    const record = firstRecord(place, id, request);
    await place.files.writeDurably(hidden.record, `${JSON.stringify(record)}\n`);
    await mkdir(hidden.io, { mode: 0o700 });
    await place.point('create.locked');
    await rename(hidden.ctl, paths.ctl);
    ctl = paths.ctl;
    await place.files.syncFolder(place.ctlDir);
    lock.movedTo(paths.ownerLock);
    const borrowedObjects = join(mirrorPath(place, request.repositoryId), 'objects');
    return { id, lock, paths, borrowedObjects, files: place.files, record };
  } catch (error) {
    await undo(place, { id, lock }, () => rm(ctl, { recursive: true, force: true }));
    throw error;
  }
}

/** A sweep may take a folder that has no lock yet for a dead maker's: then another one is made. */
async function hiddenFolder(place: Workplace) {
  for (let attempt = 0; attempt < HIDDEN_ATTEMPTS; attempt++) {
    const id = copyIdSchema.parse(place.id());
    const hidden = inCtl(join(place.ctlDir, `.new-${id}`));
    await mkdir(hidden.ctl, { mode: 0o700 });
    try {
      const lock = await tryLock(hidden.ownerLock);
      if (lock) return { id, hidden, lock };
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
  throw new LaneError('copy_failed', 'each new lock was taken by somebody else');
}

function firstRecord(place: Workplace, id: string, request: CopyRequest): CopyRecord {
  const { owner, fsType } = place;
  const fixed = { v: 1, id, state: 'creating', owner, agent: null, fsType, at: place.now() };
  return copyRecordSchema.parse({ ...request, ...fixed });
}

/** Takes a copy back in which nothing ever ran. */
async function abandon(place: Workplace, copy: Copy, reason: unknown): Promise<void> {
  const why = reason instanceof Error ? reason.message : String(reason);
  await undo(place, copy, async () => {
    await rm(copy.paths.work, { recursive: true, force: true });
    await unpin(place, copy.record.repositoryId, copy.id);
    await clearRecords(place, copy);
    // The last step, and no reason to do the others again.
    await place.ledger
      .append({ ...eventOf(place, copy.record), event: 'copy_abandoned', why })
      .catch(() => {});
  });
}

/**
 * Undoes what was made of a copy, and frees its lock. Where the disk lets nothing be undone, the lock stays held and
 * it is tried again: a free lock would leave behind a copy whose owner lives. Never rejects: the first failure is the
 * one to report.
 */
async function undo(
  place: Workplace,
  { id, lock }: Pick<Copy, 'id' | 'lock'>,
  work: () => Promise<void>,
): Promise<void> {
  const attempt = async () => {
    await work();
    await lock.release();
  };
  await attempt().catch(() => place.leftOver.set(id, attempt));
}
