/**
 * What boxes and the App say to each other over HTTP under /fleet/v1. Both sides check both ways. A lease crosses as an
 * opaque signed text: whoever carries it cannot make, widen or mend one.
 */
import { z } from 'zod';
import { namespaceSchema, sha256Schema, taskIdSchema } from './common.ts';
import { filledLaneSchema } from './config.ts';
import { lookUpQuerySchema } from './host.ts';
import { leaseSchema, runEndSchema, runInputSchema } from './runs.ts';
import { taskSchema, taskStateSchema } from './tasks.ts';

/** The longest that a claim waits for work, in ms. */
export const maxClaimWaitMs = 25_000;
/** The most bytes that a patch may have. */
export const maxPatchBytes = 1024 ** 3;
/** The most bytes of a body that is JSON. */
export const maxFleetJsonBytes = 2 * 1024 ** 2;

/** What a lease's text says before its signature. The end is left out: the store knows it. */
export const leaseClaimsSchema = leaseSchema.omit({ endsAtMs: true }).extend({ v: z.literal(1) });
export type LeaseClaims = z.infer<typeof leaseClaimsSchema>;

/** `GET pending`: queued tasks whose time has come. */
export const pendingAnswerSchema = z.strictObject({
  pending: z.int().nonnegative(),
  namespaces: z.record(z.string(), z.int().nonnegative()),
});
export type PendingAnswer = z.infer<typeof pendingAnswerSchema>;

/** `POST claim`. */
export const claimBodySchema = z.strictObject({
  namespace: namespaceSchema,
  /** How long to wait for work, in ms. */
  waitMs: z.int().nonnegative().max(maxClaimWaitMs).default(0),
});
export type ClaimBody = z.input<typeof claimBodySchema>;

export const boxInputSchema = runInputSchema.omit({ clone: true });
/** All that a run may know, but for what it clones with: that is asked for when it is needed. */
export type BoxInput = z.infer<typeof boxInputSchema>;

export const claimAnswerSchema = z.strictObject({
  lease: z.string().min(1).max(4_000),
  namespace: namespaceSchema,
  task: taskIdSchema,
  run: z.int().positive(),
  fence: z.int().positive(),
  /** In how many ms the lease ends unless a heartbeat comes. */
  endsInMs: z.int().nonnegative(),
  heartbeatEveryMs: z.int().positive(),
  taskRecord: taskSchema,
  lane: filledLaneSchema,
  input: boxInputSchema,
});
export type ClaimAnswer = z.infer<typeof claimAnswerSchema>;

/** `POST heartbeat`. Progress is one line for people. */
export const heartbeatBodySchema = z.strictObject({ progress: z.string().max(500).optional() });
export type HeartbeatBody = z.infer<typeof heartbeatBodySchema>;
export const heartbeatAnswerSchema = z.strictObject({ endsInMs: z.int().nonnegative() });
export type HeartbeatAnswer = z.infer<typeof heartbeatAnswerSchema>;

/** `POST begin` is answered with nothing. */
export const beginAnswerSchema = z.strictObject({});

/** `POST lookup`; answered with a LookUpAnswer. */
export const lookUpBodySchema = z.strictObject({ query: lookUpQuerySchema });
export type LookUpBody = z.infer<typeof lookUpBodySchema>;

/** `GET checkout`: a token that may only read this one repository. It is for this run, and never kept. */
export const checkoutAnswerSchema = z.strictObject({
  url: z.string().min(1),
  /** None where the clone base is a path. */
  token: z.string().min(1).optional(),
  /** None where the repository's default branch is meant. */
  branch: z.string().min(1).optional(),
});
export type CheckoutAnswer = z.infer<typeof checkoutAnswerSchema>;

/** `HEAD` and `PUT patch`: names of headers. */
export const uploadHeaders = {
  offset: 'upload-offset',
  length: 'upload-length',
  sha256: 'upload-sha256',
  complete: 'upload-complete',
} as const;

/** The headers of a `PUT patch`, read as numbers. */
export const uploadHeadSchema = z.strictObject({
  /** Where the body begins; what the server has. */
  offset: z.int().nonnegative(),
  /** How long the whole patch is. */
  length: z.int().nonnegative(),
  /** Of the whole patch. */
  sha256: sha256Schema,
});
export type UploadHead = z.infer<typeof uploadHeadSchema>;
export const uploadAnswerSchema = z.strictObject({ complete: z.boolean(), offset: z.int().nonnegative() });
export type UploadAnswer = z.infer<typeof uploadAnswerSchema>;

/** `POST complete`. */
export const completeBodySchema = z.strictObject({ end: runEndSchema });
export type CompleteBody = z.infer<typeof completeBodySchema>;

/** `POST park`: record the end whatever the gate says, or give the run back, not counted. */
export const parkBodySchema = z.union([
  completeBodySchema,
  z.strictObject({ handBack: z.string().min(1).max(500) }),
]);
export type ParkBody = z.infer<typeof parkBodySchema>;

/** What a recorded run has made of its task. */
export const recordedAnswerSchema = z.strictObject({
  state: taskStateSchema,
  reason: z.string().optional(),
});
export type RecordedAnswer = z.infer<typeof recordedAnswerSchema>;

/** Every refusal. `code` is of the error table. */
export const fleetErrorSchema = z.strictObject({
  error: z.strictObject({ code: z.string(), message: z.string(), retryable: z.boolean() }),
});
export type FleetError = z.infer<typeof fleetErrorSchema>;
