/**
 * The supervisor: owns one run from its claim to the end that is recorded. A linear story: still allowed? a copy of
 * the default branch's head, the agent in containment, its whole tree ended, the patch captured before anything else,
 * the result read, its proof verified. Whatever goes wrong becomes an end of the run; nothing stays an exception.
 */
import { isLaneError, LaneError } from '../errors.ts';
import type { Receipt } from '../records/copies.ts';
import type { AllowedAnswer } from '../records/host.ts';
import type { Lease, RunEnd, RunInput } from '../records/runs.ts';
import { claimChecked, nothingToCheck } from '../rules/check-lane.ts';
import { mapChecks } from '../rules/proof.ts';
import { endOfFailure } from '../rules/run-end.ts';
import { runAgent } from './agent.ts';
import { captureResult } from './capture.ts';
import { chooseContainment } from './containment.ts';
import { createCopy } from './copy.ts';
import { bringBackPatch } from './earlier-patch.ts';
import { endOfAgent, endOfResult, patchRef } from './ending.ts';
import { finishLeftOver, leaveOver, takeDown } from './left-over.ts';
import { type MirrorOutcome, type MirrorSource, syncMirror } from './mirror.ts';
import { proveRun } from './proof/prove.ts';
import { containedRunner, type ProgramEnd } from './run-contained.ts';
import type { RunOrder, RunOutcome, RunRoom, StopReason, SupervisorDeps } from './run-room.ts';
import { makeTaskFile, type TaskFiles, taskFilePaths, writeTaskFiles } from './task-files.ts';

const minuteMs = 60_000;
/** A fetch that hangs must not hold a run for ever. */
const fetchMinutes = 15;

/** Carries out one run. Never rejects. */
export async function superviseRun(deps: SupervisorDeps, order: RunOrder): Promise<RunOutcome> {
  try {
    return await prepare(deps, order);
  } catch (error) {
    return outcomeOf(error, deps, order);
  }
}

/** A run that is told to stop fails in many ways; the order to stop is the reason that counts. */
function outcomeOf(error: unknown, deps: SupervisorDeps, order: RunOrder): RunOutcome {
  if (order.signal.aborted) return { kind: 'stopped', why: stopReason(order.signal) };
  const end = endOfFailure(error, deps.place.dataDir);
  const lost = end.kind === 'died' && end.death.kind === 'lease_lost';
  return lost ? { kind: 'stopped', why: 'lease_lost' } : end;
}

function stopReason(signal: AbortSignal): StopReason {
  return signal.reason === 'lease_lost' || signal.reason === 'cancelled' ? signal.reason : 'shutdown';
}

/** Up to a copy: nothing here can leave work behind. */
async function prepare(deps: SupervisorDeps, order: RunOrder): Promise<RunOutcome> {
  const { lane, lease, signal } = order;
  const answer = await askApp(deps, lease);
  if (answer === null) return { kind: 'stopped', why: 'app_unreachable' };
  if (!answer.allowed) return { kind: 'not_allowed', why: answer.why };
  signal.throwIfAborted();
  const { input } = answer;
  const proofs = mapChecks(input.criteria, lane.checks, input.proves);
  const idle = lane.agent.kind === 'checks' ? nothingToCheck(lane, input.criteria, proofs) : null;
  if (idle !== null) return idle;
  const containment = chooseContainment(deps.levels, lane.containment);
  const { repositoryId } = input.issue;
  const synced = await fetchBase(deps, mirrorSource(deps, input), signal);
  if (synced.kind === 'empty_repository') throw new LaneError('empty_repository');
  const { task, run, fence, namespace } = lease;
  const { base, branch } = synced;
  const request = { task, run, fence, namespace, repositoryId, base, branch };
  // Work of an earlier run that a broken disk held back may be what this one begins with.
  await finishLeftOver(deps.place);
  const copy = await createCopy(deps.place, request, signal);
  const runner = containedRunner(deps, containment, copy);
  return await inCopy({ ...order, deps, input, containment, copy, run: runner });
}

/** Null where it cannot be asked now: an outage of GitHub's must not use up a task's runs. */
async function askApp(deps: SupervisorDeps, lease: Lease): Promise<AllowedAnswer | null> {
  try {
    return await deps.host.allowed(lease);
  } catch (error) {
    if (error instanceof LaneError && error.retryable) return null;
    throw error;
  }
}

function mirrorSource(deps: SupervisorDeps, input: RunInput): MirrorSource {
  const { url, token } = input.clone;
  const source = { repositoryId: input.issue.repositoryId, cloneUrl: url, networkEnv: deps.networkEnv };
  return token === undefined ? source : { ...source, token };
}

async function fetchBase(
  deps: SupervisorDeps,
  source: MirrorSource,
  signal: AbortSignal,
): Promise<MirrorOutcome> {
  const limit = AbortSignal.timeout(fetchMinutes * minuteMs);
  try {
    return await syncMirror(deps.place, source, AbortSignal.any([signal, limit]));
  } catch (error) {
    if (!limit.aborted || signal.aborted) throw error;
    const details = `the repository was not fetched within ${fetchMinutes} minutes`;
    throw new LaneError('git_failed', details, { cause: error });
  }
}

/** What came of a run's own part: how its agent ended, or what kept it from that. */
type Attempt =
  | { readonly kind: 'ran'; readonly end: ProgramEnd | null; readonly notices: readonly string[] }
  | { readonly kind: 'failed'; readonly error: unknown };

/**
 * From a copy on: whatever happens, it is captured, and removed only once its patch is in the outbox. Where a process
 * outlives every kill, nothing of the copy is touched: it stays as it is, with its lock held.
 */
async function inCopy(room: RunRoom): Promise<RunOutcome> {
  const { deps, copy, containment } = room;
  const attempt = await runInCopy(room).catch((error: unknown): Attempt => ({ kind: 'failed', error }));
  if (attempt.kind === 'failed' && isLaneError(attempt.error, 'tree_not_ended')) {
    return outcomeOf(attempt.error, deps, room);
  }
  let receipt: Receipt;
  try {
    receipt = await captureResult(deps.place, copy, containment.level);
  } catch (error) {
    // The copy stays, with its lock held: it has the only instance of this run's work.
    leaveOver(deps.place, copy, containment.level, error);
    return outcomeOf(attempt.kind === 'failed' ? attempt.error : error, deps, room);
  }
  const patch = patchRef(receipt, room.lane, deps.place.owner.instance);
  try {
    const end = await conclude(room, receipt, attempt);
    await takeDown(deps.place, copy);
    return { ...end, ...patch };
  } catch (error) {
    if (!isLaneError(error, 'tree_not_ended')) await takeDown(deps.place, copy);
    const outcome = outcomeOf(error, deps, room);
    return outcome.kind === 'died' || outcome.kind === 'unable' ? { ...outcome, ...patch } : outcome;
  }
}

/** Restores, begins, and runs the agent until its whole tree is gone. A lane of checks has none: `end` is null. */
async function runInCopy(room: RunRoom): Promise<Attempt> {
  const { deps, copy, lane, task, lease, run, signal } = room;
  // First of all, so that what is captured holds the earlier work, however early this run ends.
  const brought = lane.writes ? await bringBackPatch(deps.place, copy, task) : { patch: null, notices: [] };
  await deps.begin(lease);
  signal.throwIfAborted();
  const notices = [...brought.notices, ...strippedNotice(room.input)];
  if (lane.agent.kind === 'checks') return { kind: 'ran', end: null, notices };
  const { base, branch } = copy.record;
  const resultFile = taskFilePaths(copy.paths.io).result;
  const about = { task, lane, run: lease.run, input: room.input, base, branch, resultFile };
  const file = makeTaskFile({ ...about, earlierPatch: brought.patch });
  const files: TaskFiles = await writeTaskFiles(copy.paths.io, file, deps.promptTemplate, deps.place.id());
  await deps.place.point('run.prespawn');
  const { worker } = deps;
  const timeoutMs = Math.ceil(lane.timeoutMinutes * minuteMs);
  const end = await runAgent({ agent: lane.agent, copy, files, worker, timeoutMs, run, signal });
  return { kind: 'ran', end, notices };
}

function strippedNotice(input: RunInput): string[] {
  if (input.stripped.length === 0) return [];
  return [`Hidden text was removed from what the agent saw: ${input.stripped.join(', ')}.`];
}

/** The run's end, now that its work is safe. Rejects with what kept the run from an end of its own. */
async function conclude(room: RunRoom, receipt: Receipt, attempt: Attempt): Promise<RunEnd> {
  const { copy, input, lane, signal } = room;
  if (attempt.kind === 'failed') throw attempt.error;
  signal.throwIfAborted();
  const { end, notices } = attempt;
  const resultFile = taskFilePaths(copy.paths.io).result;
  const claimed = () => claimChecked(mapChecks(input.criteria, lane.checks, input.proves));
  const said = end === null ? claimed() : await endOfAgent(room, end, resultFile);
  if ('kind' in said) return said;
  const judgement = await proveRun(room, receipt, said);
  return endOfResult({ lane, result: said, judgement, receipt, notices });
}
