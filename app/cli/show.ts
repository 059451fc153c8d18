/** How commands show things to people: columns, spans of time, sizes. Foreign text loses what a terminal would obey. */
import { plainLine } from '../broker/note/text.ts';

const maxCellChars = 300;

/** Rows as text, each column as wide as its longest cell. */
export function columns(rows: readonly (readonly string[])[]): string {
  const shown = rows.map((row) => row.map((cell) => plainLine(cell, maxCellChars)));
  const widths = shown.reduce<number[]>(
    (all, row) => row.map((cell, i) => Math.max(all[i] ?? 0, cell.length)),
    [],
  );
  const lines = shown.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  '));
  return lines.map((line) => line.trimEnd()).join('\n');
}

const spans = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const;

/** A span of time in its largest unit: `3d`, `5h`, `12m`, `40s`. @param ms milliseconds */
export function span(ms: number): string {
  const [unit, unitMs] = spans.find(([, one]) => ms >= one) ?? (['s', 1_000] as const);
  return `${Math.max(0, Math.floor(ms / unitMs))}${unit}`;
}

const sizes = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** A number of bytes in a unit that fits: `12 B`, `3.4 MiB`. */
export function size(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(sizes.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${sizes[power]}`;
}
