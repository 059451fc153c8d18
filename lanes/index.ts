/** What the engine shows to the shell: explicit, and the only door into lanes/. */

export { createEngine, type EngineOptions, usualLeaseTtlMs, usualRenewEveryMs } from './engine.ts';
export { isLaneError, isLaneErrorCode, LaneError, toldError } from './errors.ts';
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
export { type Kept, keep as keepLease } from './queue/hold.ts';
export type { ServeOptions } from './queue/serve.ts';
export { type Credentials, credentialsSchema } from './records/access.ts';
export { type Actor, type IssueRef, namespaceSchema } from './records/common.ts';
export {
  filledLaneSchema,
  type Lane,
  type OperatorFile,
  operatorFileSchema,
  type RepositoryFile,
  repositoryFileSchema,
} from './records/config.ts';
export type { ContainmentLevel, Receipt, Tombstone } from './records/copies.ts';
export type { Criterion } from './records/criteria.ts';
export type { Disposition, DispositionKind, Dispositions, WeighedEvidence } from './records/dispositions.ts';
export type { CloseEffect, LooseEffect, NoteEffect, TaskEffect } from './records/effects.ts';
export {
  beginAnswerSchema,
  type CheckoutAnswer,
  type ClaimAnswer,
  checkoutAnswerSchema,
  claimAnswerSchema,
  claimBodySchema,
  completeBodySchema,
  fleetErrorSchema,
  heartbeatAnswerSchema,
  heartbeatBodySchema,
  leaseClaimsSchema,
  lookUpBodySchema,
  maxClaimWaitMs,
  maxFleetJsonBytes,
  maxPatchBytes,
  type PendingAnswer,
  parkBodySchema,
  pendingAnswerSchema,
  type RecordedAnswer,
  recordedAnswerSchema,
  type UploadAnswer,
  type UploadHead,
  uploadAnswerSchema,
  uploadHeaders,
  uploadHeadSchema,
} from './records/fleet.ts';
export {
  type HostRequest,
  type HostResponse,
  hostRequestSchema,
  hostResponseSchema,
  type LookUpAnswer,
  type LookUpQuery,
  lookUpAnswerSchema,
} from './records/host.ts';
export type { InHand } from './records/in-hand.ts';
export type { Decision, Delivery, IssueRecord } from './records/issues.ts';
export {
  type ArchiveCursor,
  type ArchivePage,
  type RefusalBatch,
  type RefusalEvent,
  refusalBatchSchema,
} from './records/ledger.ts';
export { type Note, type NoteDisposition, noteSchema } from './records/notes.ts';
export { type AgentResult, agentResultSchema } from './records/result.ts';
export type { Lease, PatchRef, RunEnd, RunInput } from './records/runs.ts';
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
export { boundNotices, judge } from './rules/dispositions.ts';
export { grantLost, laneLost } from './rules/entitled.ts';
export { dispositionOf, type GateAnswer, gate, type OpenCriterion } from './rules/gate.ts';
export { type Verb, verbHelp, verbs } from './rules/help.ts';
export { stripHidden } from './rules/hidden.ts';
export { decideClose } from './rules/intake/closed.ts';
export { decideEdit } from './rules/intake/edited.ts';
export { type Intake, intake, type Sender, screen, senderCounts } from './rules/intake/index.ts';
export { makeMinter } from './rules/intake/minting.ts';
export { type BodyReading, foundInstead, judgeReading } from './rules/intake/reading.ts';
export { type IntakeReason, sentenceOf } from './rules/intake/reasons.ts';
export { isWeek } from './rules/iso-week.ts';
export { effectiveLane, fillLane, sameLabel } from './rules/lanes.ts';
export { LedgerCount, type LedgerReport } from './rules/ledger-report/index.ts';
export type { SweepStep } from './rules/sweep.ts';
export { wantsProof } from './rules/transitions/run.ts';
export { adminUrl, adminUser, lockDefault } from './store/access/admin.ts';
export { guardUsers } from './store/access/guard.ts';
export { credentialsOf, growKeyring, readKeyring, syncKeyring } from './store/access/keyring.ts';
export { isChange, type Provisioned, provision } from './store/access/provision.ts';
export { appIdentity, passwordHash, type RedisUser, ruleFor, type UserRef } from './store/access/rule.ts';
export { demandPrivate, makeSecretFile, newPassword, readSecretFile } from './store/access/secret-file.ts';
export {
  addressOf,
  admitsAnybody,
  type Credential,
  checkRedis,
  connectWith,
  databaseOf,
  openRedis,
} from './store/connect.ts';
export {
  type EmbeddedRedis,
  embeddedAddress,
  embeddedAdminUrl,
  startEmbeddedRedis,
} from './store/embedded.ts';
export { keepEmbeddedRedis } from './store/kept-redis.ts';
export { lookAtRedis, type RedisFacts } from './store/look.ts';
export type { Engine } from './verbs.ts';
export { probeContainment } from './work/containment.ts';
export { handedSecrets } from './work/environment.ts';
export { writeDurably } from './work/files.ts';
export type { HostPort } from './work/host-port.ts';
export { type InHandStore, openInHand } from './work/in-hand.ts';
export { type LedgerArchive, openLedgerArchive } from './work/ledger-archive.ts';
export { tryLock, waitLock } from './work/lock.ts';
export { findReceipts, openPatch, patchFile, readReceipt } from './work/outbox.ts';
export { measurePatch } from './work/outside-patch.ts';
export { type ProcView, procView } from './work/process-tree/proc-view.ts';
export { readLedger } from './work/read-ledger.ts';
export type { RunOrder, RunOutcome } from './work/run-room.ts';
export { superviseRun } from './work/supervisor.ts';
export { discardCopy, exportCopy, releaseCopy } from './work/sweep/by-hand.ts';
export {
  planSweep,
  type SweepFinding,
  type SweepOutcome,
  sweepCopies,
} from './work/sweep/index.ts';
export { type CopyListing, listCopies } from './work/sweep/list.ts';
export { makeTaskFile, renderPrompt } from './work/task-files.ts';
export { readTombstone } from './work/tombstone.ts';
export { findProgram, TOOL_PATH } from './work/tools.ts';
export { openUploads, type Uploads } from './work/uploads.ts';
export { noteWorkerKill } from './work/worker-kill.ts';
export { type RunningWorker, runWorker } from './work/worker-loop.ts';
export { fileSystemName, openWorkplace, type Workplace } from './work/workplace.ts';
