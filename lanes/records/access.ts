/** Redis users: what a worker holds (LANES_CREDENTIALS), and what the App keeps of all of them. */
import { z } from 'zod';
import { namespaceSchema } from './common.ts';

/** Namespace -> how to log in to Redis for it. */
export const credentialsSchema = z.record(
  namespaceSchema,
  z.strictObject({ user: z.string().min(1), password: z.string().min(1) }),
);
export type Credentials = z.infer<typeof credentialsSchema>;

/** The App's keyring: user name -> password. */
export const keyringSchema = z.strictObject({
  v: z.literal(1),
  users: z.record(z.string(), z.string().min(32)),
});
