/** The demo's closing tables. */
import type { Cleaned } from './cleaner.ts';
import type { PlayedIssue } from './play.ts';

/** One row an issue. */
export function renderIssues(issues: readonly PlayedIssue[]): string {
  const head = ['issue', 'state', 'reason', 'notes', 'runs', 'dispositions'];
  const rows = issues.map((issue) => [
    `#${issue.number}`,
    issue.state,
    issue.stateReason ?? '',
    issue.notes.join(' → '),
    String(issue.runs),
    Object.entries(issue.dispositions)
      .map(([kind, count]) => `${count} ${kind}`)
      .join(', '),
  ]);
  return render(head, rows);
}

/** One row a sweep. */
export function renderSweeps({ live, dead }: Cleaned): string {
  const { reaper, reason, patchSha256 } = dead;
  return render(
    ['sweep', 'removed', 'reaper', 'reason', 'patch'],
    [
      ['its owner lives', String(live.removed), '', '', ''],
      [
        'its owner is dead',
        String(dead.removed),
        `${reaper.instance} pid ${reaper.pid}`,
        reason,
        patchSha256,
      ],
    ],
  );
}

/** Columns as wide as their longest cell. */
function render(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) => cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ');
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  return [line(head), rule, ...rows.map(line)].map((text) => text.trimEnd()).join('\n');
}
