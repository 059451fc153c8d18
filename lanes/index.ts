/** What the engine shows to the shell: explicit, and the only door into lanes/. */

export { createEngine, type EngineOptions } from './engine.ts';
export { isLaneError, isLaneErrorCode, LaneError } from './errors.ts';
export {
  type Caller,
  githubNamespace,
  grantedNamespaces,
  intakeNamespace,
  makeCaller,
  makeRegistry,
  type Namespace,
  type Registry,
} from './namespaces.ts';
export type { ServeOptions } from './queue/serve.ts';
export { type Actor, type IssueRef, namespaceSchema } from './records/common.ts';
export {
  filledLaneSchema,
  type Lane,
  type OperatorFile,
  operatorFileSchema,
  type RepositoryFile,
  repositoryFileSchema,
} from './records/config.ts';
export type { Criterion } from './records/criteria.ts';
export type { Disposition, DispositionKind, Dispositions, WeighedEvidence } from './records/dispositions.ts';
export type { CloseEffect, LooseEffect, NoteEffect, TaskEffect } from './records/effects.ts';
export {
  type HostRequest,
  type HostResponse,
  hostRequestSchema,
  hostResponseSchema,
} from './records/host.ts';
export type { Decision, Delivery, IssueRecord } from './records/issues.ts';
export { type Note, type NoteDisposition, noteSchema } from './records/notes.ts';
export type { Lease, RunInput } from './records/runs.ts';
export { liveStates, type NewTask, type ParkReason, parkReasonSchema, type Task } from './records/tasks.ts';
export { sameWords, type Ticks, ticksBetween, ticksThatStand } from './rules/attest.ts';
export {
  type CommandAnswer,
  type ParsedCommand,
  type Plan,
  parseCommands,
  planCommand,
} from './rules/commands/index.ts';
export {
  type CriteriaMatch,
  type CriteriaReading,
  checkBounds,
  matchCriteria,
  type ReadCriterion,
  readCriteria,
} from './rules/criteria/index.ts';
export { dispositionOf, type GateAnswer, gate, type OpenCriterion } from './rules/gate.ts';
export { type Verb, verbHelp, verbs } from './rules/help.ts';
export { stripHidden } from './rules/hidden.ts';
export { decideClose } from './rules/intake/closed.ts';
export { decideEdit } from './rules/intake/edited.ts';
export { type Intake, intake, type Sender, screen, senderCounts } from './rules/intake/index.ts';
export { makeMinter } from './rules/intake/minting.ts';
export { type BodyReading, foundInstead, judgeReading } from './rules/intake/reading.ts';
export { type IntakeReason, sentenceOf } from './rules/intake/reasons.ts';
export { effectiveLane, fillLane, sameLabel } from './rules/lanes.ts';
export { admitsAnybody, checkRedis, openRedis } from './store/connect.ts';
export { type EmbeddedRedis, embeddedUrlFile, startEmbeddedRedis } from './store/embedded.ts';
export { keepEmbeddedRedis } from './store/kept-redis.ts';
export type { Engine } from './verbs.ts';
export { probeContainment } from './work/containment.ts';
export { handedSecrets } from './work/environment.ts';
export type { HostPort } from './work/host-port.ts';
export { findReceipts, openPatch } from './work/outbox.ts';
export { superviseRun } from './work/supervisor.ts';
export { type RunningWorker, runWorker } from './work/worker-loop.ts';
export { openWorkplace } from './work/workplace.ts';
