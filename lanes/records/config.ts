/** The operator's file `lanekeeper.yml` and the repository's file `.github/lanes.yml`. Strict: a typo is an error. */
import { z } from 'zod';
import { laneNameSchema, namespaceSchema } from './common.ts';

const labelSchema = z.string().min(1).max(50);
const argvSchema = z.array(z.string().min(1)).min(1).max(100);

export const checkSchema = z.strictObject({
  run: argvSchema.describe('The command, as a list: program and arguments. It runs in a contained copy.'),
  timeoutMinutes: z
    .number()
    .positive()
    .max(24 * 60)
    .default(10),
  proves: z
    .array(z.string().min(1))
    .default([])
    .describe("The criteria it proves: by the author's label, by a part of their text, or * for all."),
  protect: z
    .array(z.string().min(1))
    .default([])
    .describe('Globs of paths that a patch must not touch if this check is to count as proof.'),
});
export type Check = z.infer<typeof checkSchema>;

export const agentSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('command'),
    run: argvSchema,
    env: z
      .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/))
      .default([])
      .describe('Names of environment variables of the worker that the agent may see.'),
  }),
  z.strictObject({ kind: z.literal('checks') }),
]);
export type AgentConfig = z.infer<typeof agentSchema>;

export const laneSchema = z.strictObject({
  label: labelSchema.optional().describe('Default: lane:<name>.'),
  namespace: namespaceSchema.optional().describe('Default: lane:<name>.'),
  agent: agentSchema,
  writes: z.boolean().default(false).describe('true: the patch is part of the result.'),
  concurrency: z.int().positive().max(100).default(1),
  maxRuns: z.int().positive().max(20).default(3),
  timeoutMinutes: z
    .number()
    .positive()
    .max(24 * 60)
    .default(60),
  proof: z.enum(['verified', 'asserted']).default('verified'),
  containment: z.enum(['required', 'none']).default('required'),
  onNoCriteria: z.enum(['park', 'run']).default('park'),
  allowBots: z.array(z.string()).default([]),
  checks: z.record(laneNameSchema, checkSchema).default({}),
});

export const operatorFileSchema = z.strictObject({
  repositories: z.array(z.string().min(1)).default(['*/*']),
  lanes: z.record(laneNameSchema, laneSchema),
  grants: z.record(z.string().min(1), z.array(z.string().min(1))).default({}),
});
export type OperatorFile = z.infer<typeof operatorFileSchema>;

/** A lane with its defaults filled in. */
export const filledLaneSchema = laneSchema.extend({
  name: laneNameSchema,
  label: labelSchema,
  namespace: namespaceSchema,
});
export type Lane = z.infer<typeof filledLaneSchema>;

const repositoryLaneSchema = z.strictObject({
  label: labelSchema.optional().describe('Another label for this lane in this repository.'),
  onNoCriteria: z.literal('park').optional().describe('A repository can narrow to park, never widen to run.'),
  proof: z
    .literal('verified')
    .optional()
    .describe('A repository can narrow to verified, never widen to asserted.'),
  instructions: z.string().max(20_000).optional().describe('Words for the agent.'),
  proves: z
    .record(laneNameSchema, z.array(z.string().min(1)))
    .default({})
    .describe("Check name -> criteria that it proves. Only checks of the operator's file; never a command."),
});

export const repositoryFileSchema = z.strictObject({
  lanes: z
    .record(laneNameSchema, repositoryLaneSchema)
    .describe("Which of the operator's lanes this repository uses. A lane that is not named here is off."),
});
export type RepositoryFile = z.infer<typeof repositoryFileSchema>;
