/** What a box has in hand between the end of a run and the App's word that it is recorded. */
import { z } from 'zod';
import { namespaceSchema, taskIdSchema } from './common.ts';
import { runEndSchema } from './runs.ts';

export const inHandSchema = z.strictObject({
  v: z.literal(1),
  /** As the App gave it out. It is good for this run, and with the worker's token only. */
  lease: z.string().min(1),
  namespace: namespaceSchema,
  task: taskIdSchema,
  run: z.int().positive(),
  end: runEndSchema,
});
export type InHand = z.infer<typeof inHandSchema>;
