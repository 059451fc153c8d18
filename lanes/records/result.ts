/** What an agent writes to its result file. Strict: an unknown field is a mistake that the agent should hear of. */
import { z } from 'zod';
import { dispositionKindSchema, evidenceSchema } from './dispositions.ts';

export const agentDispositionSchema = z.strictObject({
  criterion: z.string().min(1).max(64),
  disposition: dispositionKindSchema,
  reason: z.string().max(4_000).optional(),
  /** For `moved` and `superseded`, as a proposal: an issue (`#12`) or a criterion id. */
  target: z.string().max(200).optional(),
  evidence: z.array(evidenceSchema).max(50).default([]),
});
export type AgentDisposition = z.infer<typeof agentDispositionSchema>;

export const agentResultSchema = z.strictObject({
  outcome: z.enum(['done', 'needs_person']),
  summary: z.string().max(20_000).default(''),
  question: z.string().max(10_000).optional(),
  dispositions: z.array(agentDispositionSchema).max(400).default([]),
});
export type AgentResult = z.infer<typeof agentResultSchema>;
