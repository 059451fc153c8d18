/**
 * What an agent is given in `LANES_TASK_FILE`. This is a contract with programs that others write: fields are added,
 * never renamed; `v` rises when a meaning changes.
 */
import { z } from 'zod';
import { taskIdSchema } from './common.ts';
import { criterionSchema } from './criteria.ts';
import { dispositionSchema } from './dispositions.ts';
import { answerSchema, pastRunSchema, runInputSchema } from './runs.ts';

/** A criterion with what is known of it: its standing verdict, and the checks whose passing proves it. */
const taskCriterionSchema = criterionSchema.extend({
  disposition: dispositionSchema.pick({ kind: true, reason: true, by: true }).optional(),
  checks: z.array(z.string()),
});

/** A check of the lane. The host runs it again in a clean checkout; the agent may run it too. */
const taskCheckSchema = z.strictObject({
  name: z.string(),
  run: z.array(z.string()),
  /** Ids of the criteria that it proves. */
  proves: z.array(z.string()),
  /** Globs: a patch that touches one of these makes the check worthless as proof. */
  protect: z.array(z.string()),
});

/** The patch of an earlier run: already in the working tree, or, where it does not apply any more, in a file. */
const earlierPatchSchema = z.discriminatedUnion('state', [
  z.strictObject({ state: z.literal('restored'), run: z.int().positive() }),
  z.strictObject({ state: z.literal('does_not_apply'), run: z.int().positive(), file: z.string() }),
]);
export type EarlierPatch = z.infer<typeof earlierPatchSchema>;

export const taskFileSchema = z.strictObject({
  v: z.literal(1),
  task: taskIdSchema,
  run: z.int().positive(),
  lane: z.string(),
  /** Whether the patch is part of the result. */
  writes: z.boolean(),
  /** The commit that the working tree was made from. */
  base: z.string(),
  branch: z.string(),
  issue: runInputSchema
    .pick({ url: true, title: true, body: true, author: true, labels: true, comments: true, stripped: true })
    .extend({ repository: z.string(), number: z.int().positive() }),
  instructions: z.string().optional(),
  criteria: z.array(taskCriterionSchema),
  checks: z.array(taskCheckSchema),
  answers: z.array(answerSchema),
  earlierRuns: z.array(pastRunSchema),
  earlierPatch: earlierPatchSchema.optional(),
  /** Where the result is to be written; the same as `LANES_RESULT_FILE`. */
  resultFile: z.string(),
});
export type TaskFile = z.infer<typeof taskFileSchema>;
