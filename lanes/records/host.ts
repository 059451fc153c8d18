/**
 * What a worker asks of the App, and what the App answers, as it crosses the wall between the two processes. Both sides
 * check both ways: a worker is trusted for the results of its own namespaces and nothing more.
 */
import { z } from 'zod';
import { leaseSchema, runInputSchema } from './runs.ts';

/** What evidence can be looked up. All of it lies in the repository of the lease's issue; no other can be named. */
export const lookUpQuerySchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('commit'), sha: z.string().regex(/^[0-9a-f]{7,64}$/i) }),
  z.strictObject({ kind: z.literal('issue'), number: z.int().positive() }),
  z.strictObject({ kind: z.literal('pull'), number: z.int().positive() }),
  z.strictObject({ kind: z.literal('run'), id: z.int().positive() }),
]);
export type LookUpQuery = z.infer<typeof lookUpQuerySchema>;

/** Whether it was found, and what was looked at, for a person. */
export const lookUpAnswerSchema = z.strictObject({ found: z.boolean(), how: z.string().max(1_000) });
export type LookUpAnswer = z.infer<typeof lookUpAnswerSchema>;

/** Whether a run may begin. Where it may not, the App has parked or cancelled the task before it answers. */
const allowedAnswerSchema = z.discriminatedUnion('allowed', [
  z.strictObject({ allowed: z.literal(true), input: runInputSchema }),
  z.strictObject({ allowed: z.literal(false), why: z.string().max(2_000) }),
]);
export type AllowedAnswer = z.infer<typeof allowedAnswerSchema>;

/** One question over IPC; `seq` pairs it with its answer. */
export const hostRequestSchema = z.discriminatedUnion('ask', [
  z.strictObject({ seq: z.int().nonnegative(), ask: z.literal('allowed'), lease: leaseSchema }),
  z.strictObject({
    seq: z.int().nonnegative(),
    ask: z.literal('lookUp'),
    lease: leaseSchema,
    query: lookUpQuerySchema,
  }),
]);
export type HostRequest = z.infer<typeof hostRequestSchema>;

/** One answer over IPC: the answer to that question, or the code of a LaneError. */
export const hostResponseSchema = z.discriminatedUnion('answer', [
  z.strictObject({ seq: z.int().nonnegative(), answer: z.literal('allowed'), allowed: allowedAnswerSchema }),
  z.strictObject({ seq: z.int().nonnegative(), answer: z.literal('lookUp'), lookUp: lookUpAnswerSchema }),
  z.strictObject({
    seq: z.int().nonnegative(),
    answer: z.literal('error'),
    code: z.string().max(100),
    details: z.string().max(2_000),
  }),
]);
export type HostResponse = z.infer<typeof hostResponseSchema>;
