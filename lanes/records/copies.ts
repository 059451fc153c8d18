/**
 * What lies on a worker's disk about isolation copies: the ownership record, the receipt of a capture, the
 * tombstone of a removal. Times are milliseconds since the epoch.
 */
import { z } from 'zod';
import { atMsSchema, namespaceSchema, sha256Schema, taskIdSchema } from './common.ts';

/** An id that is also a file name and a part of a git ref. */
export const copyIdSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/);
export const objectNameSchema = z.string().regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/);

/** Who a process is, for veto and diagnosis. The right to delete is the kernel lock, never this. */
const processIdentitySchema = z.strictObject({
  pid: z.int().positive(),
  startTime: z.string(),
  bootId: z.string(),
  pidNs: z.string(),
  machineId: z.string(),
});
export type ProcessIdentity = z.infer<typeof processIdentitySchema>;

export const ownerSchema = processIdentitySchema.extend({
  uuid: z.string().min(1),
  instance: z.string().min(1),
});
export type Owner = z.infer<typeof ownerSchema>;

/** The strongest first. `cgroup` and `none` hide nothing: the first ends everything of a run, the second what it finds. */
const containmentLevelSchema = z.enum(['bwrap', 'unshare', 'cgroup', 'none']);
export type ContainmentLevel = z.infer<typeof containmentLevelSchema>;

/** Whose run something is of. */
export const ofRun = {
  task: taskIdSchema,
  namespace: namespaceSchema,
  run: z.int().positive(),
  fence: z.int().positive(),
};

const copyStateSchema = z.enum(['creating', 'ready', 'running', 'captured', 'deleting']);
export type CopyState = z.infer<typeof copyStateSchema>;

export const agentProcessSchema = z.strictObject({
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
  ...ofRun,
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
  why: z.enum([
    'not_readable',
    'embedded_repository',
    'too_big',
    'copy_removed',
    'special_file',
    'unsettled',
  ]),
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

/** Something that no patch can hold, kept beside it as a tar file under its hash. */
const archiveSchema = z.strictObject({
  /** In the checkout; `.git` for what only the copy's own git directory knows: stashes, resets, other branches. */
  path: z.string(),
  kind: z.enum(['embedded_repository', 'git_state']),
  sha256: sha256Schema,
  bytes: z.int().nonnegative(),
});
export type Archive = z.infer<typeof archiveSchema>;

/**
 * result: the run's own capture. salvage: a dead owner's work, captured by a reaper. checkpoint: a running copy's work,
 * bounds what a failure of the machine can cost.
 */
export const captureKindSchema = z.enum(['result', 'salvage', 'checkpoint']);
export type CaptureKind = z.infer<typeof captureKindSchema>;

/** `<id>.<kind>.receipt.json`: proof that a patch was taken, fsynced and verified. */
export const receiptSchema = z.strictObject({
  v: z.literal(1),
  kind: captureKindSchema.default('result'),
  copy: copyIdSchema,
  ...ofRun,
  base: objectNameSchema,
  tree: objectNameSchema,
  sha256: sha256Schema,
  bytes: z.int().nonnegative(),
  files: z.int().nonnegative(),
  ignored: z.int().nonnegative(),
  partial: z.boolean(),
  missing: z.array(missingSchema),
  blobs: z.array(bigBlobSchema),
  archives: z.array(archiveSchema).default([]),
  /** The machine started again since the files were written: the last ones may be cut short. */
  tornPossible: z.boolean().default(false),
  emptied: z.boolean(),
  rawAttributes: z.boolean(),
  containment: containmentLevelSchema,
  at: atMsSchema,
});
export type Receipt = z.infer<typeof receiptSchema>;

export const removalReasonSchema = z.enum([
  'completed',
  'dead_owner_captured',
  'dead_owner_salvaged',
  'dead_owner_nothing_started',
  'removed_by_person',
]);
export type RemovalReason = z.infer<typeof removalReasonSchema>;

/** `tombstones/<id>.json`: the removal of a copy, before and after. */
export const tombstoneSchema = z.strictObject({
  v: z.literal(1),
  id: copyIdSchema,
  ...ofRun,
  reason: removalReasonSchema,
  reapers: z.array(ownerSchema).min(1),
  owner: ownerSchema,
  priorState: copyStateSchema,
  /** Null only where nothing was ever started in the copy, or a person gave it up. */
  receipt: receiptSchema.pick({ kind: true, sha256: true, tree: true, bytes: true }).nullable(),
  /** The person who removed it by hand; null for a sweep and for the owner. */
  by: z.string().min(1).nullable().default(null),
  phase: z.enum(['intent', 'done']),
  intentAt: atMsSchema,
  doneAt: atMsSchema.nullable(),
});
export type Tombstone = z.infer<typeof tombstoneSchema>;

/**
 * `ctl/<id>/takeover.json`: written before a reaper changes anything of a dead owner's copy, so that the tombstone can
 * name every reaper, also those that died on the way.
 */
export const takeoverSchema = z.strictObject({
  v: z.literal(1),
  id: copyIdSchema,
  /** The copy's state as its owner left it. */
  priorState: copyStateSchema,
  reapers: z.array(ownerSchema).min(1),
});
export type Takeover = z.infer<typeof takeoverSchema>;

/** `ctl/<id>/quarantine.json`: a copy that no sweep may touch until a person says what to do with it. */
export const quarantineSchema = z.strictObject({
  v: z.literal(1),
  id: copyIdSchema,
  why: z.string(),
  by: ownerSchema,
  at: atMsSchema,
});
export type Quarantine = z.infer<typeof quarantineSchema>;
