/**
 * From what an agent said to what counts. An agent may set `met` and the verdicts that keep an issue open; the other
 * closing ones it may only propose. What it says beyond that is dropped with a notice, and where it contradicts itself
 * the criterion stays open: `cannot_tell`.
 */
import type { Criterion } from '../records/criteria.ts';
import {
  type Disposition,
  type DispositionKind,
  openKinds,
  type WeighedEvidence,
} from '../records/dispositions.ts';
import type { AgentDisposition } from '../records/result.ts';
import { clip } from './text.ts';

/** One verdict of the agent with its evidence weighed. */
export interface WeighedVerdict {
  readonly said: AgentDisposition;
  readonly evidence: readonly WeighedEvidence[];
}

export interface Judgement {
  /** What the agent may set. */
  readonly dispositions: Disposition[];
  /** Closing verdicts that only a person may set. */
  readonly proposals: Disposition[];
  /** For people: what was ignored or refused, and why. */
  readonly notices: string[];
}

type Verdict =
  | {
      readonly place: 'disposition' | 'proposal';
      readonly disposition: Disposition;
      readonly notice?: string;
    }
  | { readonly place: 'nowhere'; readonly notice: string };

/** Judges every verdict of one run against the criteria that the run was given. */
export function judge(input: {
  readonly verdicts: readonly WeighedVerdict[];
  readonly criteria: readonly Criterion[];
  readonly run: number;
  readonly nowMs: number;
}): Judgement {
  const known = new Map(input.criteria.map((criterion) => [criterion.id, criterion]));
  const byCriterion = new Map<string, WeighedVerdict[]>();
  const judgement: Judgement = { dispositions: [], proposals: [], notices: [] };
  for (const verdict of input.verdicts) {
    const id = verdict.said.criterion;
    if (known.has(id)) byCriterion.set(id, [...(byCriterion.get(id) ?? []), verdict]);
    else
      judgement.notices.push(
        `The agent judged a criterion that does not exist: ${quote(id)}. It was ignored.`,
      );
  }
  for (const [id, verdicts] of byCriterion) {
    const criterion = known.get(id);
    if (criterion === undefined) continue;
    place(judgement, judgeOne(verdicts, criterion, known, input));
  }
  return judgement;
}

function place(judgement: Judgement, verdict: Verdict): void {
  if (verdict.notice !== undefined) judgement.notices.push(verdict.notice);
  if (verdict.place === 'disposition') judgement.dispositions.push(verdict.disposition);
  if (verdict.place === 'proposal') judgement.proposals.push(verdict.disposition);
}

function judgeOne(
  verdicts: readonly WeighedVerdict[],
  criterion: Criterion,
  known: ReadonlyMap<string, Criterion>,
  at: { run: number; nowMs: number },
): Verdict {
  const [first] = verdicts;
  if (first === undefined || verdicts.length > 1) {
    return undecided(criterion, `The agent gave ${verdicts.length} verdicts on this criterion.`, at);
  }
  const kind = first.said.disposition;
  const disposition = make(criterion, kind, first, at);
  if (kind === 'met') return { place: 'disposition', disposition, ...unsupported(criterion, first) };
  if (isOpen(kind)) {
    if (hasReason(first)) return { place: 'disposition', disposition };
    return undecided(criterion, `The agent said ${kind} and gave no reason.`, at);
  }
  const missing = missingForProposal(kind, first, criterion, known);
  if (missing === null) return { place: 'proposal', disposition };
  return {
    place: 'nowhere',
    notice: `The agent proposed ${kind} for ${criterion.id} without ${missing}. It was ignored.`,
  };
}

/** A criterion that stays open because what was said of it cannot be used. */
function undecided(criterion: Criterion, why: string, at: { run: number; nowMs: number }): Verdict {
  const said = { criterion: criterion.id, disposition: 'cannot_tell' as const, reason: why, evidence: [] };
  return {
    place: 'disposition',
    disposition: make(criterion, 'cannot_tell', { said, evidence: [] }, at),
    notice: `${criterion.id} counts as cannot_tell: ${why}`,
  };
}

/** `met` without evidence is kept, since that is what the agent said; the gate does not let it close. */
function unsupported(criterion: Criterion, verdict: WeighedVerdict): { notice?: string } {
  if (verdict.evidence.length > 0) return {};
  return {
    notice: `The agent said met for ${criterion.id} and named no evidence. It does not count as proved.`,
  };
}

/** What a proposal lacks that its disposition needs, so that a person could not accept it; null where nothing. */
function missingForProposal(
  kind: DispositionKind,
  verdict: WeighedVerdict,
  criterion: Criterion,
  known: ReadonlyMap<string, Criterion>,
): string | null {
  const target = verdict.said.target?.trim() ?? '';
  const isIssue = /^#[1-9]\d{0,9}$/.test(target);
  if (kind === 'moved') return isIssue ? null : 'the issue that it moves to';
  if (kind !== 'superseded') return hasReason(verdict) ? null : 'a reason';
  const isOther = known.has(target) && target !== criterion.id;
  return isIssue || isOther ? null : 'the criterion or issue that replaces it';
}

function make(
  criterion: Criterion,
  kind: DispositionKind,
  verdict: WeighedVerdict,
  at: { run: number; nowMs: number },
): Disposition {
  const reason = verdict.said.reason?.trim() ?? '';
  const target = verdict.said.target?.trim() ?? '';
  return {
    criterion: criterion.id,
    revision: criterion.revision,
    kind,
    by: { kind: 'agent', run: at.run },
    ...(reason === '' ? {} : { reason }),
    evidence: [...verdict.evidence],
    ...(target === '' ? {} : { target }),
    atMs: at.nowMs,
  };
}

function hasReason(verdict: WeighedVerdict): boolean {
  return (verdict.said.reason ?? '').trim() !== '';
}

function isOpen(kind: DispositionKind): boolean {
  return openKinds.some((open) => open === kind);
}

/** Agent text in a notice: short, and visibly a quotation. */
function quote(text: string): string {
  return JSON.stringify(text.slice(0, 64));
}

/** The most notices that a run's end can hold, and the longest; the rest is counted, not dropped silently. */
const noticeLimit = { count: 100, characters: 1_000 };

/** Bounds notices to what a record holds. */
export function boundNotices(notices: readonly string[]): string[] {
  const short = notices.map((notice) => clip(notice, noticeLimit.characters));
  if (short.length <= noticeLimit.count) return short;
  const kept = short.slice(0, noticeLimit.count - 1);
  return [...kept, `There were ${short.length - kept.length} more notices like these.`];
}
