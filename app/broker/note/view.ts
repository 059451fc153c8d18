/** What the templates are given: every text is already safe to put into Markdown. */
import { dispositionOf, type Task } from '../../../lanes/index.ts';
import { evidenceLists } from './evidence.ts';
import type { NoteInput } from './input.ts';
import type { Limits } from './limits.ts';
import { proposalLines } from './proposals.ts';
import { criterionRows } from './rows.ts';
import { cell, codeBlock, codeSpan, plainLine, quote } from './text.ts';
import { kindWords } from './words.ts';

const maxFound = 20;

/** The view of a note within `limits`. `shortened` makes the note say that something was left out. */
export function noteView(input: NoteInput, limits: Limits, shortened: boolean): object {
  const { task } = input;
  const found = input.found ?? [];
  const rows = criterionRows(task, input.open, limits);
  return {
    template: input.state === 'parked' ? `parked/${input.reason}` : input.state,
    shortened,
    ...people(input),
    lane: codeSpan(task.lane, 64),
    lane_name: task.lane,
    issue: `${task.issue.repository}#${task.issue.number}`,
    worker: task.claimedBy === undefined ? 'the worker' : `worker ${codeSpan(task.claimedBy, 100)}`,
    run: task.run,
    max_runs: task.maxRuns,
    sequence: input.sequence,
    state_reason: input.state === 'complete' ? input.stateReason : '',
    question: quote(task.question ?? '', limits.question),
    answer: input.state === 'resumed' ? quote(task.answers.at(-1)?.text ?? '', limits.question) : '',
    found: found.slice(0, maxFound).map((text) => cell(text, 200)),
    found_plain: found.slice(0, maxFound).map((text) => plainLine(text, 200)),
    found_more: Math.max(0, found.length - maxFound),
    rows: rows.slice(0, limits.rows),
    rows_left_out: Math.max(0, rows.length - limits.rows),
    open_count: input.open.length,
    open_id: input.open[0]?.criterion ?? '',
    total: rows.length,
    tally: tally(task),
    ...evidenceLists(task, limits),
    proposals: proposalLines(task.proposals, limits),
    ...patchView(task),
    ...detailView(task, found.length === 0 ? (task.detail ?? '') : '', limits),
  };
}

function people({ actor, task }: NoteInput): object {
  return {
    actor: actor === undefined ? '' : cell(actor.login, 64),
    approver: cell(task.approvedBy.login, 64),
  };
}

/** `3 met, 1 waived`: the verdicts on the criteria that the task has. */
function tally({ criteria, dispositions }: Task): string {
  const counts = new Map<string, number>();
  for (const { id } of criteria) {
    const kind = dispositionOf(dispositions, id)?.kind;
    if (kind !== undefined) counts.set(kindWords[kind], (counts.get(kindWords[kind]) ?? 0) + 1);
  }
  return [...counts].map(([words, count]) => `${count} ${words}`).join(', ');
}

function patchView({ patch }: Task): object {
  if (patch === undefined) return { patch: false };
  return {
    patch: true,
    patch_files: patch.files,
    patch_size: sizeWords(patch.bytes),
    patch_hash: codeSpan(patch.sha256.slice(0, 12), 12),
    patch_worker: codeSpan(patch.worker, 100),
    patch_partial: patch.partial,
  };
}

function sizeWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${Math.ceil(bytes / 1_000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** How a run ended, in people's words. */
const outcomeWords = {
  result: 'finished',
  died: 'died',
  unable: 'could not go on',
  handed_back: 'was handed back',
  ended: 'was ended',
} as const satisfies Record<Task['history'][number]['outcome'], string>;

/** What the ledger says of a result, in people's words; anything else is words already. */
const detailWords: ReadonlyMap<string, string> = new Map([
  ['done', ''],
  ['needs_person', 'it asked a question'],
]);

/**
 * A detail that is what was found in the body is shown as that. One of a single short line is told after the sentence; a
 * longer one, an agent's last output say, is folded.
 */
function detailView(task: Task, detail: string, limits: Limits): object {
  const [first = '', ...more] = detail.trim().split(/\r?\n/);
  const long = more.length > 0 || first.length > 300;
  const output = long ? codeBlock(detail, limits.output) : '';
  const notices = task.notices.slice(0, limits.lines).map((notice) => cell(notice, 500));
  const runs = task.history.slice(Math.max(0, task.history.length - limits.lines)).map((past) => ({
    run: past.run,
    outcome: outcomeWords[past.outcome],
    worker: codeSpan(past.worker, 100),
    detail: cell(detailWords.get(past.detail) ?? past.detail, 200),
  }));
  return {
    detail: cell(first, 300),
    detail_code: /^[a-z_]{1,40}$/.test(first) ? first : '',
    output,
    summary: quote(task.summary, limits.summary),
    notices,
    runs,
    has_remarks: runs.length > 0 || notices.length > 0 || output !== '',
  };
}
