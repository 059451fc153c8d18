/** Tombstones: the durable record of a removal, before and after; it outlives the copy. */
import { join } from 'node:path';
import type { CopyState, Owner, Receipt, RemovalReason, Tombstone } from '../records/copies.ts';
import { tombstoneSchema } from '../records/copies.ts';
import type { Copy } from './copy.ts';
import { readIfThere } from './files.ts';
import type { Workplace } from './workplace.ts';

/** Why a copy goes, by whom, and what holds its work. */
export interface RemovalOrder {
  readonly reason: RemovalReason;
  readonly reapers: readonly Owner[];
  /** The state that the copy's owner left it in. */
  readonly priorState: CopyState;
  /** Null only where nothing was ever started, or a person gives the work up. */
  readonly receipt: Receipt | null;
  /** The person who removes it by hand. */
  readonly by?: string;
}

/** The tombstone of a copy, or null. Throws if it is damaged. */
export async function readTombstone(place: Workplace, id: string): Promise<Tombstone | null> {
  const text = await readIfThere(tombstonePath(place, id));
  return text === null ? null : tombstoneSchema.parse(JSON.parse(text));
}

/** Durable when it resolves. Throws LaneError `disk`. */
export async function writeTombstone(place: Workplace, tombstone: Tombstone): Promise<Tombstone> {
  const checked = tombstoneSchema.parse(tombstone);
  await place.files.writeDurably(tombstonePath(place, checked.id), `${JSON.stringify(checked)}\n`);
  return checked;
}

/** What is written before anything is removed. One that a dead remover began keeps its reason and gets more reapers. */
export function intentOf(
  place: Workplace,
  copy: Copy,
  order: RemovalOrder,
  begun: Tombstone | null,
): Tombstone {
  if (begun !== null) return { ...begun, reapers: everyReaper(begun.reapers, order.reapers) };
  const { task, namespace, run, fence, owner } = copy.record;
  const { reason, reapers, priorState, receipt } = order;
  return {
    ...{ v: 1, id: copy.id, task, namespace, run, fence, reason, reapers: [...reapers], owner, priorState },
    receipt: receipt && (({ kind, sha256, tree, bytes }) => ({ kind, sha256, tree, bytes }))(receipt),
    ...{ by: order.by ?? null, phase: 'intent', intentAt: place.now(), doneAt: null },
  };
}

/** Each process once, in the order in which they came. */
export function everyReaper(...lists: readonly (readonly Owner[])[]): Owner[] {
  return [...new Map(lists.flat().map((reaper) => [reaper.uuid, reaper])).values()];
}

function tombstonePath(place: Workplace, id: string): string {
  return join(place.tombstonesDir, `${id}.json`);
}
