/** Runs: what a worker is given, and how a run can end. */
import { z } from 'zod';
import {
  actorSchema,
  atMsSchema,
  issueRefSchema,
  namespaceSchema,
  sha256Schema,
  taskIdSchema,
} from './common.ts';
import { criterionSchema } from './criteria.ts';
import { dispositionSchema } from './dispositions.ts';

/** The time-bound right to act for a task. All of it is compared at every effect. */
export const leaseSchema = z.strictObject({
  namespace: namespaceSchema,
  task: taskIdSchema,
  run: z.int().positive(),
  fence: z.int().positive(),
  /** Random, by the claimer. */
  id: z.string().min(16).max(64),
  worker: z.string().min(1),
  /** The store's epoch: a wiped store starts fences anew, so a fence alone proves nothing. */
  epoch: z.string().min(1),
  /** By Redis's clock. */
  endsAtMs: atMsSchema,
});
export type Lease = z.infer<typeof leaseSchema>;

/** Where a captured patch lies. */
export const patchRefSchema = z.strictObject({
  copy: z.string(),
  worker: z.string(),
  run: z.int().positive(),
  base: z.string(),
  tree: z.string(),
  sha256: sha256Schema,
  bytes: z.int().nonnegative(),
  files: z.int().nonnegative(),
  partial: z.boolean(),
});
export type PatchRef = z.infer<typeof patchRefSchema>;

/** Why a run died. Each is retried while runs are left. */
export const deathSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('exit'), code: z.int() }),
  z.strictObject({ kind: z.literal('signal'), signal: z.string() }),
  z.strictObject({ kind: z.literal('timeout'), afterMs: z.int().positive() }),
  z.strictObject({ kind: z.literal('invalid_result'), why: z.string().max(2_000) }),
  z.strictObject({ kind: z.literal('lease_lost') }),
  z.strictObject({ kind: z.literal('failed'), code: z.string(), why: z.string().max(2_000) }),
]);
export type Death = z.infer<typeof deathSchema>;

/** Reasons for which a run cannot go on without a person, found by the worker before or around the agent. */
export const unableReasonSchema = z.enum([
  'disk',
  'agent_unavailable',
  'containment_unavailable',
  'empty_repository',
  'nothing_to_check',
]);

/** How a run ended, as the supervisor records it. Proof has been verified by then. */
export const runEndSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('result'),
    outcome: z.enum(['done', 'needs_person']),
    summary: z.string(),
    question: z.string().optional(),
    /** What the agent may set, weighed. */
    dispositions: z.array(dispositionSchema),
    /** Closing verdicts that only a person may set: shown with the command that accepts each. */
    proposals: z.array(dispositionSchema),
    /** For people: ignored ids, refused dispositions, stripped text, a patch that did not apply. */
    notices: z.array(z.string().max(1_000)).max(100),
    patch: patchRefSchema.optional(),
  }),
  z.strictObject({
    kind: z.literal('died'),
    death: deathSchema,
    /** The last lines of the agent's stderr, bounded and redacted; for the folded details. */
    tail: z.string().max(8_000),
    patch: patchRefSchema.optional(),
  }),
  z.strictObject({
    kind: z.literal('unable'),
    reason: unableReasonSchema,
    detail: z.string().max(2_000),
    patch: patchRefSchema.optional(),
  }),
]);
export type RunEnd = z.infer<typeof runEndSchema>;

/** One line of a task's history. */
export const pastRunSchema = z.strictObject({
  run: z.int().positive(),
  worker: z.string(),
  outcome: z.enum(['result', 'died', 'unable', 'handed_back', 'ended']),
  detail: z.string().max(500),
  atMs: atMsSchema,
});
export type PastRun = z.infer<typeof pastRunSchema>;

/** What a person answered when resuming. */
export const answerSchema = z.strictObject({
  by: actorSchema,
  text: z.string().max(10_000),
  atMs: atMsSchema,
});
export type Answer = z.infer<typeof answerSchema>;

/** What the App hands a worker that asks "still allowed?": all that a run may know. */
export const runInputSchema = z.strictObject({
  issue: issueRefSchema,
  url: z.string(),
  title: z.string(),
  /** With hidden text stripped. */
  body: z.string(),
  author: z.string(),
  labels: z.array(z.string()),
  /** By permitted people only. */
  comments: z.array(z.strictObject({ by: z.string(), body: z.string(), atMs: atMsSchema })).max(200),
  /** The kinds of hidden text that were stripped. */
  stripped: z.array(z.string()),
  criteria: z.array(criterionSchema),
  /** The repository's own words to the agent, from its default branch. */
  instructions: z.string().optional(),
  /** Check name -> what it proves, by the repository's file; added to the operator's mapping. */
  proves: z.record(z.string(), z.array(z.string())),
  clone: z.strictObject({ url: z.string(), token: z.string().optional() }),
});
export type RunInput = z.infer<typeof runInputSchema>;
