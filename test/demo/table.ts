/** The demo's closing table. */
import type { PlayedIssue } from './play.ts';

/** One row an issue, in columns as wide as their longest cell. */
export function renderTable(issues: readonly PlayedIssue[]): string {
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
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) => cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ');
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  return [line(head), rule, ...rows.map(line)].map((text) => text.trimEnd()).join('\n');
}
