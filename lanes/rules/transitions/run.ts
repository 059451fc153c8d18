/** How a run's end moves its task: by its record, by its lease's end, or handed back unfinished. */
import type { Disposition, Dispositions } from '../../records/dispositions.ts';
import type { Death, PastRun, RunEnd } from '../../records/runs.ts';
import type { Task } from '../../records/tasks.ts';
import { dispositionOf, type GateAnswer, gate } from '../gate.ts';
import { backoffMs, mayRunAgain } from '../retry.ts';
import { clipStart } from '../text.ts';
import {
  type Act,
  type Changes,
  type Move,
  maxDetail,
  nameOf,
  refuse,
  type Transition,
  toClosing,
  toParked,
  toQueue,
  withPast,
} from './move.ts';

type ResultEnd = Extract<RunEnd, { kind: 'result' }>;

/** `running` -> by the way the run ended. */
export function afterRun(task: Task, end: RunEnd, act: Act): Transition {
  if (task.state !== 'running') return refuse('lease_lost', `the task is ${task.state}`);
  const kept = end.patch === undefined ? task : { ...task, patch: end.patch };
  if (end.kind === 'died') return died(kept, end.death, end.tail, act, 'died');
  if (end.kind === 'result') return afterResult(kept, end, act);
  const from = { ...kept, history: withPast(kept, past(kept, act, 'unable', end.reason)) };
  const event = { event: 'unable', by: nameOf(act), detail: `${end.reason}: ${end.detail}` } as const;
  return toParked(from, act, event, end.reason, end.detail);
}

/** What would stay open for want of proof alone, if a run were recorded with this end; null where that is not what is missing. */
export function wantsProof(task: Task, end: RunEnd): string | null {
  if (end.kind !== 'result' || end.outcome !== 'done') return null;
  const answer = gate({ ...task, dispositions: withVerdicts(task, end.dispositions) });
  return !answer.close && answer.reason === 'proof_unverified' ? describeOpen(answer) : null;
}

/** `running` -> as after a death: the keeper found that the lease has ended. */
export function expired(task: Task, act: Act): Transition {
  if (task.state !== 'running') return refuse('wrong_state', `the task is ${task.state}`);
  return died(task, { kind: 'lease_lost' }, '', act, 'lease_expired');
}

/** `running` -> `queued`, to be run after `waitMs`; the run does not count against `maxRuns`. */
export function handedBack(task: Task, why: string, waitMs: number, act: Act): Transition {
  if (task.state !== 'running') return refuse('lease_lost', `the task is ${task.state}`);
  const history = withPast(task, past(task, act, 'handed_back', why));
  const from = { ...task, history, runsUsed: Math.max(task.runsUsed - 1, 0) };
  const event = { event: 'handed_back', by: nameOf(act), detail: why } as const;
  return { task: toQueue(from, act.nowMs, waitMs), effects: [], event };
}

function died(task: Task, death: Death, tail: string, act: Act, event: 'died' | 'lease_expired'): Move {
  const detail = describeDeath(death);
  const from = { ...task, history: withPast(task, past(task, act, 'died', detail)) };
  const entry = { event, by: nameOf(act), detail };
  if (!mayRunAgain(task.runsUsed, task.maxRuns))
    return toParked(from, act, entry, 'runs_exhausted', lastWords(task.runsUsed, detail, tail));
  return { task: toQueue(from, act.nowMs, backoffMs(task.runsUsed)), effects: [], event: entry };
}

/** What a person needs who is asked why: the cause, and the last lines that the program printed. */
function lastWords(runs: number, cause: string, tail: string): string {
  const first = `The last of ${runs} runs ended: ${cause}`;
  // Of a long output the end says why: the beginning goes.
  return tail.trim() === '' ? first : `${first}\n\n${clipStart(tail.trim(), maxDetail - first.length - 2)}`;
}

function afterResult(task: Task, end: ResultEnd, act: Act): Move {
  const changes: Changes = {
    dispositions: withVerdicts(task, end.dispositions),
    proposals: end.proposals,
    summary: end.summary,
    notices: end.notices,
    question: end.question,
    history: withPast(task, past(task, act, 'result', end.outcome)),
  };
  const from = { ...task, ...changes } as Task;
  const event = { event: 'result', by: nameOf(act), detail: end.outcome } as const;
  if (end.outcome === 'needs_person')
    return toParked(from, act, event, 'needs_answer', end.question ?? end.summary);
  const answer = gate(from);
  if (answer.close) return toClosing(from, act, event);
  return toParked(from, act, event, answer.reason, describeOpen(answer));
}

/** The agent's verdicts over earlier ones. A person's verdict that still fits stays; unknown criteria are left out. */
function withVerdicts(task: Task, verdicts: readonly Disposition[]): Dispositions {
  const merged: Dispositions = { ...task.dispositions };
  for (const verdict of verdicts) {
    const criterion = task.criteria.find(({ id }) => id === verdict.criterion);
    if (criterion === undefined) continue;
    const earlier = dispositionOf(merged, criterion.id);
    if (earlier?.by.kind === 'person' && earlier.revision === criterion.revision) continue;
    merged[criterion.id] = verdict;
  }
  return merged;
}

/** What is open, in words, for the note and the status. */
export function describeOpen(answer: Extract<GateAnswer, { close: false }>): string {
  return answer.open
    .map(({ criterion, why }) => `${criterion} (${why.replaceAll('_', ' ')})`)
    .join(', ')
    .slice(0, 4_000);
}

function past(task: Task, act: Act, outcome: PastRun['outcome'], detail: string): PastRun {
  return {
    run: Math.max(task.run, 1),
    worker: task.lease?.worker ?? task.claimedBy ?? act.by,
    outcome,
    detail,
    atMs: act.nowMs,
  };
}

/** The cause of a death in words. */
export function describeDeath(death: Death): string {
  switch (death.kind) {
    case 'exit':
      return `the agent exited with code ${death.code}`;
    case 'signal':
      return `the agent was ended by ${death.signal}`;
    case 'timeout':
      return `the agent ran longer than ${Math.round(death.afterMs / 1000)} s`;
    case 'invalid_result':
      return `its result was not valid: ${death.why}`;
    case 'lease_lost':
      return 'its lease ended without a word from the worker';
    case 'failed':
      return `${death.code}: ${death.why}`;
  }
}
