/**
 * What the server and its worker child say to each other over Node IPC. The worker's environment is clean, so what it
 * needs to know, its Redis credentials too, comes in the first message; a child of the worker cannot read it anywhere.
 */
import { z } from 'zod';
import {
  credentialsSchema,
  filledLaneSchema,
  hostRequestSchema,
  hostResponseSchema,
  namespaceSchema,
  refusalBatchSchema,
} from '../../lanes/index.ts';

/** The first message to a worker: who it is and what it may do. */
export const bootstrapSchema = z.strictObject({
  identity: z.string().min(1),
  namespaces: z.array(namespaceSchema),
  registry: z.array(namespaceSchema),
  lanes: z.array(filledLaneSchema),
  /** Where Redis is, and how to log in for each of the namespaces; nothing of others. */
  redis: z.strictObject({ address: z.string(), credentials: credentialsSchema }),
  dataDir: z.string(),
  /** Files beside the data directory that no agent may see. */
  hide: z.array(z.string()),
  /** The worker's environment, of which an agent gets what its lane lists. */
  environment: z.record(z.string(), z.string()),
  /** Proxy and certificate variables for git. */
  networkEnvironment: z.record(z.string(), z.string()),
  logLevel: z.string(),
});
export type Bootstrap = z.infer<typeof bootstrapSchema>;

export const toWorkerSchema = z.discriminatedUnion('say', [
  z.strictObject({ say: z.literal('begin'), bootstrap: bootstrapSchema }),
  z.strictObject({ say: z.literal('answer'), response: hostResponseSchema }),
  z.strictObject({ say: z.literal('stop'), graceMs: z.int().nonnegative() }),
]);
export type ToWorker = z.infer<typeof toWorkerSchema>;

export const fromWorkerSchema = z.discriminatedUnion('say', [
  z.strictObject({ say: z.literal('serving'), containment: z.string() }),
  z.strictObject({ say: z.literal('ask'), request: hostRequestSchema }),
  /** What the worker was refused; it stands in the machine's ledger already. */
  z.strictObject({ say: z.literal('refused'), batch: refusalBatchSchema }),
  /** It cannot serve now. The first one ends the start; a later one is started again, since what kept it may pass. */
  z.strictObject({ say: z.literal('unable'), why: z.string() }),
]);
export type FromWorker = z.infer<typeof fromWorkerSchema>;
