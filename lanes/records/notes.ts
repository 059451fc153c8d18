/**
 * The machine block of an agent note, version 1: what a note says, for machines. It is small on purpose (ids, verdicts,
 * hashes, short words), so that what GitHub holds is enough to rebuild the store from.
 */
import { z } from 'zod';
import {
  actorSchema,
  atMsSchema,
  issueRefSchema,
  namespaceSchema,
  sha256Schema,
  taskIdSchema,
} from './common.ts';
import { dispositionKindSchema } from './dispositions.ts';
import { patchRefSchema } from './runs.ts';
import { parkReasonSchema } from './tasks.ts';

export const noteStateSchema = z.enum(['parked', 'resumed', 'complete']);
export type NoteState = z.infer<typeof noteStateSchema>;

export const noteCriterionSchema = z.strictObject({
  id: z.string().max(16),
  revision: z.int().positive(),
  /** The first characters of the author's words; enough to find the criterion again. Absent where the block was cut. */
  text: z.string().max(200).optional(),
  label: z.string().max(40).optional(),
  removed: z.literal(true).optional(),
});

export const noteEvidenceSchema = z.strictObject({
  kind: z.enum(['check', 'file', 'commit', 'url', 'statement']),
  standing: z.enum(['verified', 'asserted']),
  /** The check's name, the path, the sha, the address or the first words said. */
  ref: z.string().max(200),
});

export const noteDispositionSchema = z.strictObject({
  criterion: z.string().max(64),
  revision: z.int().positive(),
  kind: dispositionKindSchema,
  by: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('agent'), run: z.int().positive() }),
    z.strictObject({ kind: z.literal('person'), person: actorSchema }),
  ]),
  reason: z.string().max(200).optional(),
  target: z.string().max(64).optional(),
  evidence: z.array(noteEvidenceSchema).max(10).optional(),
  atMs: atMsSchema,
});
export type NoteDisposition = z.infer<typeof noteDispositionSchema>;

export const noteSchema = z
  .strictObject({
    v: z.literal(1),
    app: z.strictObject({ id: z.int().positive(), slug: z.string().max(100) }),
    issue: issueRefSchema,
    namespace: namespaceSchema,
    lane: z.string().max(64),
    task: taskIdSchema,
    run: z.int().nonnegative().describe('The latest run; 0 before the first.'),
    fence: z.int().nonnegative(),
    sequence: z.int().positive().describe('Counts the notes of a task from 1; rises with the comment id.'),
    state: noteStateSchema,
    reason: parkReasonSchema.optional().describe('Set exactly when the state is parked.'),
    stateReason: z
      .enum(['completed', 'not_planned'])
      .optional()
      .describe('Set exactly when the state is complete.'),
    proof: z.enum(['verified', 'asserted']),
    approved: z.strictObject({ by: actorSchema, bodyHash: sha256Schema }),
    criteria: z.array(noteCriterionSchema).max(500),
    dispositions: z.array(noteDispositionSchema).max(500),
    proposals: z.array(noteDispositionSchema).max(500),
    patch: patchRefSchema.optional(),
    actor: actorSchema.optional().describe('The person who caused this note, where there is one.'),
    atMs: atMsSchema.describe('Unix milliseconds.'),
    cut: z
      .int()
      .min(0)
      .max(3)
      .describe(
        'How much had to be left out to fit: 0 nothing; 1 reasons; 2 also texts; 3 all but verdicts.',
      ),
  })
  .refine((note) => (note.state === 'parked') === (note.reason !== undefined), 'parked notes have a reason')
  .refine(
    (note) => (note.state === 'complete') === (note.stateReason !== undefined),
    'complete notes have a state reason',
  );
export type Note = z.infer<typeof noteSchema>;
