/** Criteria as they are kept: what the gate, the note and the agent's task file speak of. */
import { z } from 'zod';

/** Short enough to type in a comment; opaque, minted once, never reused. */
export const criterionIdSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9-]{0,31}$/);
export type CriterionId = z.infer<typeof criterionIdSchema>;

/** One acceptance item with its identity. */
export const criterionSchema = z.object({
  id: criterionIdSchema,
  /** From 1; rises whenever the item is reworded, which makes an earlier disposition stale. */
  revision: z.number().int().min(1),
  /** Plain text of the item. */
  text: z.string().min(1),
  /** Number of ancestor list items with text. */
  depth: z.number().int().min(0),
  /** A tick in the body: a hint, never evidence. */
  checked: z.boolean(),
  checkbox: z.boolean(),
  /** The author's own name for it, such as `AC-1`. */
  label: z.string().optional(),
  group: z.string().optional(),
  detail: z.array(z.string()).optional(),
  /** An HTML comment in the item that an earlier reading had too. */
  marker: z.string().optional(),
  /** Its line vanished from the body; it still needs a disposition. */
  removed: z.boolean(),
});
export type Criterion = z.infer<typeof criterionSchema>;

export const criteriaSchema = z.array(criterionSchema);
