/** Short answers to commands: what each one changed, or why not. Comments for people, without a machine block. */
import {
  type CommandAnswer,
  type Disposition,
  liveStates,
  type OpenCriterion,
  type ParsedCommand,
  type Task,
  type Verb,
  verbHelp,
  verbs,
} from '../../../lanes/index.ts';
import { cut } from './cut.ts';
import { renderTemplate } from './liquid.ts';
import { redactAll } from './redact.ts';
import { cell, codeSpan } from './text.ts';
import { idWords, verdictWords } from './words.ts';

/** What came of one command. Park and resume have none: their notes tell it. */
export type Outcome =
  | ({ readonly code: 'problem' } & Omit<Extract<ParsedCommand, { ok: false }>, 'ok'>)
  | CommandAnswer
  /** Verdicts that were set; `left` proposals did not fit any more. */
  | { readonly code: 'set'; readonly dispositions: readonly Disposition[]; readonly left: number }
  | { readonly code: 'opened'; readonly id: string }
  | { readonly code: 'cancelled' }
  /** The issue that a verdict points at is not there, or is closed; nothing was set. */
  | { readonly code: 'target_missing' | 'target_closed'; readonly issue: number }
  /** The task moved on between reading and writing; nothing was set. */
  | { readonly code: 'changed_meanwhile' };

export interface AnswerFacts {
  /** The task as it is after the commands; null where there is none. */
  readonly task: Task | null;
  /** What the gate finds open after them. */
  readonly open: readonly OpenCriterion[];
  /** Exact words of ours that must not be shown. */
  readonly secrets: readonly string[];
}

const maxIds = 30;
const maxReasonChars = 200;
const maxVerdicts = 50;
const maxProgressChars = 300;
/** What a comment effect holds. */
const maxAnswerChars = 60_000;

/** The Markdown of one comment that answers the commands of one comment, in their order. */
export function renderAnswer(outcomes: readonly Outcome[], { task, open, secrets }: AnswerFacts): string {
  const clean = redactAll(outcomes, secrets);
  const text = renderTemplate('answer', {
    items: clean.map(itemOf),
    changed: clean.some(({ code }) => code === 'set' || code === 'opened'),
    ...taskView(task === null ? null : redactAll(task, secrets)),
    open_count: open.length,
    open_ids: open.slice(0, maxIds).map(({ criterion }) => criterion),
    open_more: Math.max(0, open.length - maxIds),
  });
  return cut(text, maxAnswerChars);
}

function taskView(task: Task | null): object {
  if (task === null)
    return { state: 'none', live: false, lane: '', reason: '', run: 0, progress: '', total: 0 };
  return {
    state: task.state,
    live: liveStates.includes(task.state),
    lane: codeSpan(task.lane, 64),
    reason: task.state === 'parked' ? codeSpan(task.reason ?? '', 64) : '',
    run: task.run,
    progress: cell(task.progress ?? '', maxProgressChars),
    total: task.criteria.length,
  };
}

/** One outcome for its template. Every field that the template reads is there. */
function itemOf(outcome: Outcome): object {
  switch (outcome.code) {
    case 'problem':
      return { template: 'answer-problem', ...problemView(outcome) };
    case 'set':
      return { template: 'answer-set', ...setView(outcome) };
    case 'opened':
      return { template: 'answer-opened', id: idWords(outcome.id) };
    case 'help':
      return { template: 'answer-help', commands: verbs.map((verb) => verbHelp[verb]) };
    case 'status':
      return { template: 'answer-status', last: lastView(outcome) };
    case 'cancelled':
      return { template: 'answer-cancelled' };
    default:
      return { template: 'answer-refused', ...refusedView(outcome) };
  }
}

function problemView({ line, problem, verb }: Extract<Outcome, { code: 'problem' }>): object {
  return { line: codeSpan(line, maxReasonChars), problem, usage: usageOf(verb) };
}

function usageOf(verb: Verb | undefined): string {
  return verb === undefined ? '' : verbHelp[verb].usage;
}

function setView({ dispositions, left }: Extract<Outcome, { code: 'set' }>): object {
  const more = Math.max(0, dispositions.length - maxVerdicts);
  return { left, more, verdicts: dispositions.slice(0, maxVerdicts).map(verdictView) };
}

function verdictView(disposition: Disposition): object {
  return {
    id: idWords(disposition.criterion),
    words: verdictWords(disposition),
    reason: cell(disposition.reason ?? '', maxReasonChars),
  };
}

function lastView({ last }: { last?: string }): string {
  return cell(last ?? '', maxReasonChars);
}

type Refused = Exclude<
  Outcome,
  { code: 'problem' } | { code: 'set' } | { code: 'opened' } | { code: 'cancelled' } | { code: 'help' }
>;

function refusedView(outcome: Refused): object {
  return {
    code: outcome.code,
    id: 'id' in outcome ? codeSpan(outcome.id, 40) : '',
    names: 'near' in outcome ? spans(outcome.near) : 'ids' in outcome ? spans(outcome.ids) : '',
    ended: 'state' in outcome ? outcome.state : '',
    issue: 'issue' in outcome ? outcome.issue : 0,
    last: 'last' in outcome ? lastView(outcome) : '',
  };
}

function spans(names: readonly string[]): string {
  return names.map((name) => codeSpan(name, 40)).join(' or ');
}
