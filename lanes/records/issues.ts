/** What the App keeps of an issue, across tasks: the pointer, its criteria with their ids, people's dispositions. */
import { z } from 'zod';
import { atMsSchema, issueRefSchema, namespaceSchema, sha256Schema, taskIdSchema } from './common.ts';
import { criterionSchema } from './criteria.ts';
import { dispositionsSchema } from './dispositions.ts';
import { newTaskSchema } from './tasks.ts';

/** One decision about an event, for `lanekeeper explain`. */
export const decisionSchema = z.strictObject({
  atMs: atMsSchema,
  /** The delivery's GUID, or `scan`, `keeper`, `claim`. */
  source: z.string(),
  event: z.string(),
  verdict: z.enum(['admit', 'ignore', 'refuse', 'park', 'resume', 'cancel', 'note']),
  /** A stable code. */
  reason: z.string(),
  /** One sentence for a person. */
  text: z.string().max(2_000),
});
export type Decision = z.infer<typeof decisionSchema>;

export const issueRecordSchema = z.strictObject({
  issue: issueRefSchema,
  /** Rises with every write; compared before the next. */
  version: z.int().nonnegative(),
  /**
   * The one task that is not ended. It holds the whole admission, so that a crash between binding and creating the task
   * is repaired from here.
   */
  pointer: newTaskSchema.optional(),
  /** The task that it was last bound to, ended or not. */
  latest: z.strictObject({ namespace: namespaceSchema, task: taskIdSchema }).optional(),
  /** Lanes whose label was refused `issue_busy`; looked at again when the task ends. */
  waiting: z.array(z.string()),
  /** Every criterion ever seen here, removed ones too: ids are never used again. */
  criteria: z.array(criterionSchema),
  /** How many ids were minted. */
  minted: z.int().nonnegative(),
  /** People's dispositions, which outlive a task. */
  dispositions: dispositionsSchema,
  bodyHash: sha256Schema.optional(),
  /** Once, a close by somebody else with criteria open is undone; this remembers it, by the time of that close. */
  reopenedFor: z.string().optional(),
  /**
   * Lane -> GitHub's time of the look at which a label set until then was decided about. The label scan leaves those
   * alone: a reopened issue that still has its label is not a new order.
   */
  labelsSeen: z.record(z.string(), z.string()).optional(),
  decisions: z.array(decisionSchema).max(50),
});
export type IssueRecord = z.infer<typeof issueRecordSchema>;

/** A webhook as it came, durable before it is answered. */
export const deliverySchema = z.strictObject({
  /** GitHub's delivery GUID. */
  guid: z.string().min(1).max(100),
  event: z.string().min(1).max(100),
  /** The raw JSON text, as signed. */
  payload: z.string(),
  receivedAtMs: atMsSchema,
});
export type Delivery = z.infer<typeof deliverySchema>;
