/** The task record: the authority on what is queued, running, parked, closing or ended. */
import { z } from 'zod';
import {
  actorSchema,
  atMsSchema,
  issueRefSchema,
  laneNameSchema,
  namespaceSchema,
  sha256Schema,
  taskIdSchema,
} from './common.ts';
import { criterionSchema } from './criteria.ts';
import { dispositionSchema, dispositionsSchema } from './dispositions.ts';
import { answerSchema, leaseSchema, pastRunSchema, patchRefSchema } from './runs.ts';

/**
 * queued: waits for an entitled worker. running: a worker holds its lease. parked: waits for a person.
 * closing: the gate would close; the App takes a fresh look. complete, cancelled: ended.
 */
export const taskStateSchema = z.enum(['queued', 'running', 'parked', 'closing', 'complete', 'cancelled']);
export type TaskState = z.infer<typeof taskStateSchema>;

export const parkReasonSchema = z.enum([
  'no_criteria',
  'only_placeholders',
  'too_many_criteria',
  'unreadable_body',
  'nothing_to_check',
  'needs_answer',
  'criteria_open',
  'proof_unverified',
  'runs_exhausted',
  'criteria_changed',
  'edited_after_approval',
  'held',
  'agent_unavailable',
  'containment_unavailable',
  'empty_repository',
  'disk',
  'not_writable',
]);
export type ParkReason = z.infer<typeof parkReasonSchema>;

/** What an admitted issue becomes a task from. */
export const newTaskSchema = z.strictObject({
  id: taskIdSchema,
  namespace: namespaceSchema,
  lane: laneNameSchema,
  issue: issueRefSchema,
  title: z.string(),
  /** Who set the label, and so approved the body as it was then. */
  approvedBy: actorSchema,
  approvedBodyHash: sha256Schema,
  criteria: z.array(criterionSchema),
  dispositions: dispositionsSchema,
  proof: z.enum(['verified', 'asserted']),
  maxRuns: z.int().positive(),
  /** Set where there is nothing to work on: the task is parked at once. */
  parked: z.strictObject({ reason: parkReasonSchema, detail: z.string().max(4_000) }).optional(),
});
export type NewTask = z.infer<typeof newTaskSchema>;

export const taskSchema = newTaskSchema.omit({ parked: true }).extend({
  state: taskStateSchema,
  /** Rises with every write; what a decision was based on is compared by it. */
  revision: z.int().nonnegative(),
  /** Rises with every claim, park and cancel. */
  fence: z.int().nonnegative(),
  /** The number of the latest run; 0 before the first. */
  run: z.int().nonnegative(),
  /** Runs that count against `maxRuns` since the last resume. */
  runsUsed: z.int().nonnegative(),
  /** How many wake-ups it has been given. */
  wakes: z.int().nonnegative(),
  /** How many notes it has caused; the next note's sequence is one more. */
  noteSequence: z.int().nonnegative(),
  /** Set while parked, and while cancelled with the cause. */
  reason: z.string().optional(),
  detail: z.string().optional(),
  notBeforeMs: atMsSchema,
  lease: leaseSchema.optional(),
  /** The identity of the latest claimer. Never empty once claimed. */
  claimedBy: z.string().optional(),
  /** What the holder of the lease says of its run: one line. */
  progress: z.string().max(500).optional(),
  proposals: z.array(dispositionSchema),
  answers: z.array(answerSchema).max(50),
  history: z.array(pastRunSchema).max(50),
  summary: z.string(),
  question: z.string().optional(),
  notices: z.array(z.string()),
  patch: patchRefSchema.optional(),
  createdAtMs: atMsSchema,
  changedAtMs: atMsSchema,
});
export type Task = z.infer<typeof taskSchema>;

/** States in which a task still binds its issue. */
export const liveStates: readonly TaskState[] = ['queued', 'running', 'parked', 'closing'];
