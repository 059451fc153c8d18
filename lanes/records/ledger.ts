/** Ledger events of tasks: append-only, a stream per namespace, written by the script that makes the transition. */
import { z } from 'zod';
import { atMsSchema, namespaceSchema, taskIdSchema } from './common.ts';

export const taskEventSchema = z.strictObject({
  event: z.enum([
    'admitted',
    'claimed',
    'began',
    'result',
    'died',
    'unable',
    'handed_back',
    'lease_expired',
    'parked',
    'resumed',
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

/** A refused verb: who tried what, where. */
export const refusalEventSchema = z.strictObject({
  event: z.literal('refused'),
  namespace: z.string(),
  verb: z.string(),
  by: z.string(),
  code: z.string(),
  atMs: atMsSchema,
});
export type RefusalEvent = z.infer<typeof refusalEventSchema>;
