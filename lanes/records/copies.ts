/**
 * What lies on a worker's disk about isolation copies: the ownership record, the receipt of a capture, the
 * tombstone of a removal, and the machine's ledger events. Times are milliseconds since the epoch.
 */
import { z } from 'zod';
import { atMsSchema, namespaceSchema, sha256Schema, taskIdSchema } from './common.ts';

/** An id that is also a file name and a part of a git ref. */
export const copyIdSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/);
const objectNameSchema = z.string().regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/);

/** Who a process is, for veto and diagnosis. The right to delete is the kernel lock, never this. */
const processIdentitySchema = z.strictObject({
  pid: z.int().positive(),
  startTime: z.string(),
  bootId: z.string(),
  pidNs: z.string(),
  machineId: z.string(),
});
export type ProcessIdentity = z.infer<typeof processIdentitySchema>;

const ownerSchema = processIdentitySchema.extend({
  uuid: z.string().min(1),
  instance: z.string().min(1),
});
export type Owner = z.infer<typeof ownerSchema>;

const containmentLevelSchema = z.enum(['bwrap', 'unshare', 'none']);
export type ContainmentLevel = z.infer<typeof containmentLevelSchema>;

const run = {
  task: taskIdSchema,
  namespace: namespaceSchema,
  run: z.int().positive(),
  fence: z.int().positive(),
};

const copyStateSchema = z.enum(['creating', 'ready', 'running', 'captured', 'deleting']);
export type CopyState = z.infer<typeof copyStateSchema>;

const agentProcessSchema = z.strictObject({
  pid: z.int().positive(),
  startTime: z.string(),
  cgroup: z.string(),
  containment: containmentLevelSchema,
});
export type AgentProcess = z.infer<typeof agentProcessSchema>;

/** `ctl/<id>/record.json`: who owns a copy, and how far it is. */
export const copyRecordSchema = z.strictObject({
  v: z.literal(1),
  id: copyIdSchema,
  ...run,
  repositoryId: z.int().positive(),
  base: objectNameSchema,
  branch: z.string().min(1),
  state: copyStateSchema,
  owner: ownerSchema,
  agent: agentProcessSchema.nullable(),
  fsType: z.string(),
  at: atMsSchema,
});
export type CopyRecord = z.infer<typeof copyRecordSchema>;

/** Something of the copy that the patch does not hold. */
const missingSchema = z.strictObject({
  path: z.string(),
  why: z.enum(['not_readable', 'embedded_repository', 'too_big', 'copy_removed']),
});
export type Missing = z.infer<typeof missingSchema>;

/** A file too big for a patch, kept beside it under its object name. */
const bigBlobSchema = z.strictObject({
  path: z.string(),
  mode: z.string(),
  object: objectNameSchema,
  bytes: z.int().nonnegative(),
});
export type BigBlob = z.infer<typeof bigBlobSchema>;

/** `<id>.result.receipt.json`: proof that a patch was taken, fsynced and verified. */
export const receiptSchema = z.strictObject({
  v: z.literal(1),
  copy: copyIdSchema,
  ...run,
  base: objectNameSchema,
  tree: objectNameSchema,
  sha256: sha256Schema,
  bytes: z.int().nonnegative(),
  files: z.int().nonnegative(),
  ignored: z.int().nonnegative(),
  partial: z.boolean(),
  missing: z.array(missingSchema),
  blobs: z.array(bigBlobSchema),
  emptied: z.boolean(),
  rawAttributes: z.boolean(),
  containment: containmentLevelSchema,
  at: atMsSchema,
});
export type Receipt = z.infer<typeof receiptSchema>;

/** `tombstones/<id>.json`: the removal of a copy, before and after. */
export const tombstoneSchema = z.strictObject({
  v: z.literal(1),
  id: copyIdSchema,
  ...run,
  reason: z.literal('completed'),
  reapers: z.array(ownerSchema).min(1),
  owner: ownerSchema,
  priorState: copyStateSchema,
  receipt: receiptSchema.pick({ sha256: true, tree: true, bytes: true }),
  phase: z.enum(['intent', 'done']),
  intentAt: atMsSchema,
  doneAt: atMsSchema.nullable(),
});
export type Tombstone = z.infer<typeof tombstoneSchema>;

const event = {
  v: z.literal(1),
  at: atMsSchema,
  machineId: z.string(),
  instance: z.string(),
  copy: copyIdSchema,
  ...run,
};

/** One line of the machine's ledger. */
export const machineEventSchema = z.discriminatedUnion('event', [
  z.strictObject({ ...event, event: z.literal('copy_created'), base: objectNameSchema }),
  z.strictObject({ ...event, event: z.literal('copy_abandoned'), why: z.string() }),
  z.strictObject({ ...event, event: z.literal('run_started'), agent: agentProcessSchema }),
  z.strictObject({ ...event, event: z.literal('kill_intent'), signal: z.string(), why: z.string() }),
  z.strictObject({
    ...event,
    event: z.literal('run_exited'),
    cause: z.enum(['exit', 'signal', 'timeout', 'stopped', 'spawn_failed']),
    detail: z.string(),
  }),
  z.strictObject({
    ...event,
    event: z.literal('captured'),
    sha256: sha256Schema,
    bytes: z.int().nonnegative(),
    partial: z.boolean(),
  }),
  z.strictObject({ ...event, event: z.literal('capture_failed'), why: z.string() }),
  z.strictObject({ ...event, event: z.literal('removal_refused'), why: z.string() }),
  z.strictObject({ ...event, event: z.literal('removed'), sha256: sha256Schema }),
]);
export type MachineEvent = z.infer<typeof machineEventSchema>;
