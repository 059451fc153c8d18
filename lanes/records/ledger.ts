/** Ledger events of tasks: append-only, a stream per namespace, written by the script that makes the transition. */
import { z } from 'zod';
import { atMsSchema, namespaceSchema, taskIdSchema } from './common.ts';

export const taskEventSchema = z.strictObject({
  event: z.enum([
    'admitted',
    'claimed',
    'result',
    'died',
    'unable',
    'handed_back',
    'taken_back',
    'lease_expired',
    'parked',
    'resumed',
    'retried',
    'amended',
    'closing',
    'complete',
    'cancelled',
  ]),
  namespace: namespaceSchema,
  task: taskIdSchema,
  run: z.int().nonnegative(),
  fence: z.int().nonnegative(),
  /** Who acted: a caller's identity, and the person behind it where there is one. */
  by: z.string().min(1),
  detail: z.string().max(2_000),
  atMs: atMsSchema,
});
export type TaskEvent = z.infer<typeof taskEventSchema>;

/** The errors that say no to whoever asked, as opposed to what is wrong with the request or the world. */
export const refusalCodeSchema = z.enum([
  'fleet_queue_off_limits',
  'namespace_not_granted',
  'unknown_namespace',
  'identity_required',
  'lease_lost',
  'store_refused',
]);
export type RefusalCode = z.infer<typeof refusalCodeSchema>;

/** A refused verb: who tried what, where. What was asked for need not be a namespace, or be anybody's identity. */
export const refusalEventSchema = z.strictObject({
  event: z.literal('refused'),
  /** Empty where the verb names none. */
  namespace: z.string().max(100),
  verb: z.string().max(100),
  /** The worker identity, by its credential; empty where there was none. */
  by: z.string().max(128),
  code: refusalCodeSchema,
  /** By the clock of the process that refused. */
  atMs: atMsSchema,
});
export type RefusalEvent = z.infer<typeof refusalEventSchema>;

/** Refusals on their way to where they are kept: some in full, all of them counted. */
export const refusalBatchSchema = z.strictObject({
  events: z.array(refusalEventSchema).max(1_000),
  counts: z.partialRecord(refusalCodeSchema, z.int().positive()),
});
export type RefusalBatch = z.infer<typeof refusalBatchSchema>;

/** Where a line of the archive comes from, so that each event is there once. */
const archived = {
  v: z.literal(1),
  /** The stamp of the store that it was in: a wiped store begins its streams anew. */
  epoch: z.string().min(1),
  /** Of the entry in the stream; it begins with Redis's time in ms. */
  id: z.string().regex(/^\d{1,16}-\d{1,20}$/),
  /** Which event of that entry: those of one write share it. */
  part: z.int().nonnegative(),
};

/** An entry of a stream that is no event known here. Kept, so that nothing which was there is passed over in silence. */
const unreadableEventSchema = z.strictObject({
  event: z.literal('unreadable'),
  namespace: namespaceSchema,
  text: z.string().max(2_000),
  atMs: atMsSchema,
});

/** One line of the archive of the streams. */
export const archivedEventSchema = z.discriminatedUnion('event', [
  taskEventSchema.extend(archived),
  refusalEventSchema.extend(archived),
  unreadableEventSchema.extend(archived),
]);
export type ArchivedEvent = z.infer<typeof archivedEventSchema>;

/** The last event that an archive has of a stream. */
export type ArchiveCursor = Pick<ArchivedEvent, 'epoch' | 'id' | 'part'>;

/** A part of a stream on its way to the archive. */
export interface ArchivePage {
  /** Null where the store has no stamp yet, and so no events. */
  readonly epoch: string | null;
  /** Oldest first, of whole entries. */
  readonly events: readonly ArchivedEvent[];
  /** Whether there may be more behind it. */
  readonly more: boolean;
}
