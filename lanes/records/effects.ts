/**
 * Effects: changes to GitHub that have been decided and recorded, not yet delivered. A task's effects are written by
 * the script that makes the transition; the broker delivers them in order.
 */
import { z } from 'zod';
import { actorSchema, atMsSchema, issueRefSchema } from './common.ts';
import { taskSchema } from './tasks.ts';

/** Post a note on a transition. The task is embedded as it was then: the note tells that moment. */
export const noteEffectSchema = z.strictObject({
  kind: z.literal('note'),
  state: z.enum(['parked', 'resumed']),
  sequence: z.int().positive(),
  /** Who caused it, where a person did. */
  actor: actorSchema.optional(),
  task: taskSchema,
  atMs: atMsSchema,
});

/**
 * Take a fresh look at issue and task; where the gate still closes: complete note, close, read again. What is looked at
 * is the task as it is by then, so only its id is kept.
 */
export const closeEffectSchema = z.strictObject({
  kind: z.literal('close'),
  sequence: z.int().positive(),
  task: taskSchema.pick({ id: true, issue: true }),
  atMs: atMsSchema,
});

/** Effects of a task, in its own namespace. */
export const taskEffectSchema = z.discriminatedUnion('kind', [noteEffectSchema, closeEffectSchema]);
export type NoteEffect = z.infer<typeof noteEffectSchema>;
export type CloseEffect = z.infer<typeof closeEffectSchema>;
export type TaskEffect = z.infer<typeof taskEffectSchema>;

/** Effects without a task, in `broker:github`. `key` makes each one once. */
export const looseEffectSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('reaction'),
    key: z.string(),
    issue: issueRefSchema,
    /** On a comment where set, else on the issue. */
    comment: z.int().positive().optional(),
    content: z.enum(['eyes', 'confused', '+1']),
  }),
  z.strictObject({
    kind: z.literal('comment'),
    key: z.string(),
    issue: issueRefSchema,
    /** Already neutralised and redacted Markdown. */
    body: z.string().max(60_000),
  }),
  z.strictObject({
    kind: z.literal('reopen'),
    key: z.string(),
    issue: issueRefSchema,
    body: z.string().max(60_000),
  }),
]);
export type LooseEffect = z.infer<typeof looseEffectSchema>;
