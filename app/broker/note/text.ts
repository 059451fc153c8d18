/** Foreign text put into our Markdown: as a quote, a cell, a code span or a code block. All of it is neutralised. */
import { stripControls } from './controls.ts';
import { cut, cutStart } from './cut.ts';
import { neutralise, neutraliseLine } from './neutralise.ts';

/**
 * A block quote: whatever the text opens (a fence, a list, a table), it ends with the quote. It cannot pass for one of
 * GitHub's alerts (`[!NOTE]`), which would read as our own words. An empty text gives an empty string.
 */
export function quote(text: string, maxChars: number): string {
  const safe = neutralise(cut(text.trim(), maxChars)).trim().replace(/^\[!/, '\\[!');
  if (safe === '') return '';
  return safe
    .split('\n')
    .map((line) => (line.trim() === '' ? '>' : `> ${line}`))
    .join('\n');
}

/** One line of plain words, as in a table's cell: shown as it is written, no Markdown, pipes escaped. */
export function cell(text: string, maxChars: number): string {
  return neutraliseLine(cut(text.trim(), maxChars)).replace(/[\\`*_[\]<>~$|]/g, '\\$&');
}

/** A code span. A backtick inside it would end it and becomes an apostrophe. Not for cells: a pipe stays a pipe. */
export function codeSpan(text: string, maxChars: number): string {
  const safe = neutraliseLine(cut(text, maxChars)).replaceAll('`', "'");
  return safe === '' ? '' : `\`${safe}\``;
}

/**
 * A fenced block, with a fence that is longer than any in the text. Of a long text the end is shown: it is output, whose
 * last words say why. An empty text gives an empty string.
 */
export function codeBlock(text: string, maxChars: number): string {
  const safe = neutralise(cutStart(text.trim(), maxChars));
  if (safe === '') return '';
  const longest = (safe.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${safe}\n${fence}`;
}

/**
 * A line to copy out of a fenced block, behind a list marker. Nothing is live in a fence, and breakers would be copied
 * along, so it stays as it is but for invisible characters.
 */
export function plainLine(text: string, maxChars: number): string {
  return cut(stripControls(text).replace(/\s+/g, ' ').trim(), maxChars);
}
