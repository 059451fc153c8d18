/** A criterion as the store keeps it: the author's words with an opaque id that survives edits. */
import { z } from 'zod';

export const criterionSchema = z.strictObject({
  /** Opaque, minted once for the issue and never used again; short enough to type in a comment. */
  id: z.string().regex(/^[a-z0-9]{2,16}$/),
  /** Rises when the criterion is reworded; a disposition for an older revision is stale. */
  revision: z.int().positive(),
  text: z.string().max(65_536),
  checked: z.boolean(),
  checkbox: z.boolean(),
  depth: z.int().nonnegative(),
  /** The author's own label, such as `AC-1`. */
  label: z.string().optional(),
  group: z.string().optional(),
  detail: z.array(z.string()).optional(),
  /** An HTML comment in the item that an earlier reading had too. */
  marker: z.string().max(65_536).optional(),
  /** True once its line is gone from the issue. It still needs a disposition. */
  removed: z.boolean(),
});
export type Criterion = z.infer<typeof criterionSchema>;
