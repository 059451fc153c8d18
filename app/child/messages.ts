/**
 * What the server and its worker child say to each other over Node IPC. The worker's environment is clean, so what it
 * needs to know, its Redis credential too, comes in the first message; a child of the worker cannot read it anywhere.
 */
import { z } from 'zod';
import {
  filledLaneSchema,
  hostRequestSchema,
  hostResponseSchema,
  namespaceSchema,
} from '../../lanes/index.ts';

/** The first message to a worker: who it is and what it may do. */
export const bootstrapSchema = z.strictObject({
  identity: z.string().min(1),
  namespaces: z.array(namespaceSchema),
  registry: z.array(namespaceSchema),
  lanes: z.array(filledLaneSchema),
  redisUrl: z.string(),
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
  /** It cannot serve now. The first one ends the start; a later one is started again, since what kept it may pass. */
  z.strictObject({ say: z.literal('unable'), why: z.string() }),
]);
export type FromWorker = z.infer<typeof fromWorkerSchema>;
