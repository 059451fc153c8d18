/**
 * The keeper's work: ended leases are moved on, queued tasks without a wake-up get one, old ended tasks are forgotten.
 * It rests on the records alone, so that whatever died, at whatever moment, is put right by the next pass.
 */
import { LaneError } from './errors.ts';
import type { Task } from './records/tasks.ts';
import { expired } from './rules/transitions/run.ts';
import type { Space } from './space.ts';
import { decide, wake } from './task-verbs.ts';
import type { Repaired } from './verbs.ts';

/** Ended tasks that a namespace keeps, so that an old issue can still be explained. */
const keptEnded = 10_000;

export async function repair(space: Space, by: string): Promise<Repaired> {
  const moved = await endLeases(space, by);
  // A wake-up in a paused namespace is used up for nothing.
  const { woken, lanes } = (await space.turn.isPaused()) ? noneQueued : await wakeQueued(space);
  await space.listing.forget(keptEnded);
  const end = await space.listing.firstLeaseEnd();
  const nextEndInMs = end === undefined ? undefined : Math.max(end - (await space.tasks.now()), 0);
  return { expired: moved, woken, queuedLanes: lanes, nextEndInMs };
}

interface Queued {
  /** Those that had no wake-up. */
  readonly woken: Task[];
  /** The lanes of all. */
  readonly lanes: ReadonlySet<string>;
}

const noneQueued: Queued = { woken: [], lanes: new Set() };

/** Gives every queued task that has no wake-up one. */
export async function wakeQueued(space: Space): Promise<Queued> {
  const woken: Task[] = [];
  const lanes = new Set<string>();
  for await (const page of space.listing.queued()) {
    for (const { lane } of page) lanes.add(lane);
    for (const task of await space.wakes().missing(page)) {
      const counted = await rewake(space, task);
      if (counted !== null) woken.push(counted);
    }
  }
  return { woken, lanes };
}

/** Another wake-up for a queued task; null where it changed meanwhile, or needs none. */
export async function rewake(space: Space, task: Task): Promise<Task | null> {
  if (task.state !== 'queued') return null;
  const counted = await space.tasks.rewake(task);
  if (counted !== null) await wake(space, counted);
  return counted;
}

async function endLeases(space: Space, by: string): Promise<Task[]> {
  const moved: Task[] = [];
  for (const { task } of await space.listing.overdue(await space.tasks.now())) {
    try {
      moved.push(await decide(space, task.id, null, { by }, { mode: 'ended' }, expired));
    } catch (error) {
      // Recorded, renewed or taken away since it was listed: nothing is left to repair.
      if (!(error instanceof LaneError) || !settledMeanwhile.has(error.code)) throw error;
    }
  }
  return moved;
}

const settledMeanwhile: ReadonlySet<string> = new Set(['wrong_state', 'unknown_task', 'task_conflict']);
