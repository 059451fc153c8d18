/** The machine's own ledger: what happened to copies and their runs on it. Times are milliseconds since the epoch. */
import { z } from 'zod';
import { atMsSchema, sha256Schema } from './common.ts';
import {
  agentProcessSchema,
  captureKindSchema,
  copyIdSchema,
  objectNameSchema,
  ofRun,
  ownerSchema,
  removalReasonSchema,
} from './copies.ts';
import { refusalEventSchema } from './ledger.ts';

/** Why a run ended, for the ledger. What no record shows is `unattributed`; nothing is guessed. */
export const deathCauseSchema = z.enum([
  'exit',
  'signal',
  'out_of_memory',
  'timeout',
  'stopped',
  'lease_lost',
  'spawn_failed',
  'host_reboot',
  'supervisor_killed',
  'unattributed',
]);
export type DeathCause = z.infer<typeof deathCauseSchema>;

const onMachine = { v: z.literal(1), at: atMsSchema, machineId: z.string(), instance: z.string() };
const event = { ...onMachine, copy: copyIdSchema, ...ofRun };

/** One line of the machine's ledger. */
export const machineEventSchema = z.discriminatedUnion('event', [
  z.strictObject({ ...event, event: z.literal('copy_created'), base: objectNameSchema }),
  z.strictObject({ ...event, event: z.literal('copy_abandoned'), why: z.string() }),
  z.strictObject({ ...event, event: z.literal('run_started'), agent: agentProcessSchema }),
  z.strictObject({ ...event, event: z.literal('kill_intent'), signal: z.string(), why: z.string() }),
  /** The App is about to kill a worker as a whole. */
  z.strictObject({
    ...onMachine,
    event: z.literal('worker_kill_intent'),
    ...{ pid: z.int().positive(), startTime: z.string(), bootId: z.string() },
    ...{ signal: z.string(), why: z.string() },
  }),
  z.strictObject({
    ...event,
    event: z.literal('run_exited'),
    cause: deathCauseSchema,
    /** The evidence, in words. */
    detail: z.string(),
    /** Where the agent ended by itself. */
    exitCode: z.int().optional(),
  }),
  z.strictObject({
    ...event,
    event: z.literal('captured'),
    kind: captureKindSchema.default('result'),
    sha256: sha256Schema,
    bytes: z.int().nonnegative(),
    partial: z.boolean(),
    tornPossible: z.boolean().default(false),
  }),
  z.strictObject({ ...event, event: z.literal('capture_failed'), why: z.string() }),
  z.strictObject({ ...event, event: z.literal('removal_refused'), why: z.string() }),
  z.strictObject({
    ...event,
    event: z.literal('removed'),
    reason: removalReasonSchema,
    reapers: z.array(ownerSchema).min(1),
    /** Of the patch that holds its work; null where there was none. */
    sha256: sha256Schema.nullable(),
    /** The person who removed it by hand. */
    by: z.string().min(1).optional(),
  }),
  z.strictObject({ ...event, event: z.literal('quarantined'), why: z.string() }),
  /** A person let the sweep have a quarantined copy again. */
  z.strictObject({ ...event, event: z.literal('released'), by: z.string().min(1) }),
  /** A person took the patch of a quarantined copy out, as far as it can be read. */
  z.strictObject({ ...event, event: z.literal('exported'), by: z.string().min(1), sha256: sha256Schema }),
  refusalEventSchema.omit({ atMs: true }).extend(onMachine),
]);
export type MachineEvent = z.infer<typeof machineEventSchema>;
