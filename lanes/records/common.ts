/** Small shapes that several records share. Times are Unix milliseconds. */
import { z } from 'zod';
import { type Namespace, parseNamespace } from '../namespaces.ts';

export const namespaceSchema = z.string().transform((text, context): Namespace => {
  try {
    return parseNamespace(text);
  } catch {
    context.addIssue({
      code: 'custom',
      message:
        'must be main, lane:<name>, agent:<id> or broker:<name>, with names like [a-z0-9][a-z0-9._-]{0,63}',
    });
    return z.NEVER;
  }
});

export const taskIdSchema = z.string().regex(/^[a-z0-9]{8,32}$/);
export const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);
export const atMsSchema = z.int().nonnegative();

/** Which issue, keyed as GitHub does not change it: names may be renamed, ids and numbers stay. */
export const issueRefSchema = z.strictObject({
  installation: z.int().positive(),
  repositoryId: z.int().positive(),
  /** `owner/name` as last seen; for people and for addresses, never a key. */
  repository: z.string(),
  number: z.int().positive(),
});
export type IssueRef = z.infer<typeof issueRefSchema>;

/** A person (or bot) on GitHub. */
export const actorSchema = z.strictObject({ login: z.string(), id: z.int().nonnegative() });
export type Actor = z.infer<typeof actorSchema>;

/** The name of a lane, or of a check. A lane's name is part of Redis keys. */
export const laneNameSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'must look like [a-z0-9][a-z0-9._-]{0,63}');
