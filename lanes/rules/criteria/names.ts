/** Which kind of section a heading or label names, whatever decoration, spelling or language it comes in. */
import { ACCEPTANCE, ACCEPTANCE_ALONE, DONE, DONE_ALONE } from './lexicon.ts';
import { EXCLUDED, OTHER, OTHER_ADJECTIVES } from './lexicon-other.ts';
import { editDistance } from './similarity.ts';
import { foldName } from './text.ts';

export type NameKind = 'acceptance' | 'done' | 'excluded' | 'other';

/** `extra` counts the words around the known name; 0 where the name is the whole of it. */
export type Name = { kind: NameKind; extra: number };

const MAX_NAME_CHARS = 160;
const TRAILING = /[^\p{L}\p{N}\p{M})\]）】'"]+$/u;
const LEADING = [
  /^[^\p{L}\p{N}]+/u,
  /^:[a-z0-9_+-]+:\s*/,
  /^\d\ufe0f?\u20e3\s*/,
  /^(?:\d+(?:\.\d+)*[.):]?|[ivx]{1,5}[.):]|[a-z][.):])\s+(?=\S)/,
  /^\d+(?:\.\d+)*[.)]\s*(?=\p{L})/u,
];
const PARENTHESES = /\s*[([（【][^()[\]（）【】]*[)\]）】]\s*/g;
const SEPARATORS =
  /\s*[/|,&+、／]\s*|\s+(?:and|or|und|oder|et|ou|y|e|o|en|i|и|及|和)\s+|\s+[-]+\s+|\s*[:：]\s*/;
/** A name after one of these is talked about, not opened. */
const ABOUT =
  /(?:^|\s)(?:about|on|without|no|non|not|missing|regarding|discuss|define|clarify|write|review|agree|need|needs|lack|über|zu|ohne|keine|sans|sobre|sin|sem|senza|без)(?:\s|$)/;
const AFTER_EXCLUDED = /\s+(?:for|on|about|from|to|of|in|with|für|zu|pour|para|per|voor|для|by)\s+/;

const exact = new Map<string, NameKind>();
for (const [names, kind] of [
  [OTHER, 'other'],
  [EXCLUDED, 'excluded'],
  [DONE_ALONE, 'done'],
  [DONE, 'done'],
  [ACCEPTANCE_ALONE, 'acceptance'],
  [ACCEPTANCE, 'acceptance'],
] as const) {
  for (const name of names) exact.set(foldName(name), kind);
}
const alone = new Set([...ACCEPTANCE_ALONE, ...DONE_ALONE].map(foldName));
const acceptanceInside = insidePattern(ACCEPTANCE);
const doneInside = insidePattern(DONE);
const fuzzy: readonly (readonly [string, NameKind])[] = [
  ...ACCEPTANCE.map((name) => [foldName(name), 'acceptance'] as const),
  ...DONE.map((name) => [foldName(name), 'done'] as const),
].filter(([name]) => name.length >= 12 && /^[\p{Script=Latin}\p{Script=Cyrillic}\s'-]+$/u.test(name));

/** Names are looked for as whole words, except in scripts that write no spaces. */
function insidePattern(names: readonly string[]): RegExp {
  const folded = [...new Set(names.map(foldName))].sort((a, b) => b.length - a.length);
  const escaped = (name: string) => name.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  const unspaced = folded.filter((name) =>
    /[\p{Script=Han}\p{Script=Kana}\p{Script=Hira}\p{Script=Thai}]/u.test(name),
  );
  const spaced = folded.filter((name) => !unspaced.includes(name));
  const words = `(?<![\\p{L}\\p{N}])(?:${spaced.map(escaped).join('|')})(?![\\p{L}\\p{N}])`;
  return new RegExp(`${words}|${unspaced.map(escaped).join('|')}`, 'u');
}

/** The name without emoji, numbering, quotes and the trailing colon. */
export function bareName(text: string): string {
  let core = foldName(text);
  for (let round = 0; round < 4; round += 1) {
    const before = core;
    for (const pattern of LEADING) core = core.replace(pattern, '');
    if (core === before) break;
  }
  return core.replace(TRAILING, '').trim();
}

/** Classify a heading or label; null if its name is not known. */
export function classifyName(text: string): Name | null {
  if (text.length > MAX_NAME_CHARS) return null;
  const core = bareName(text);
  if (!core) return null;
  const whole = exact.get(core) ?? exact.get(withoutParentheses(core));
  if (whole) return { kind: whole, extra: 0 };
  const part = partName(core);
  if (part) return part;
  if (isTalkedAbout(core)) return excludedName(core);
  return insideName(core) ?? fuzzyName(core) ?? excludedName(core);
}

function withoutParentheses(core: string): string {
  return core.replace(PARENTHESES, ' ').replace(TRAILING, '').trim();
}

/** "Acceptance criteria / definition of done", "Requirements and acceptance criteria". */
function partName(core: string): Name | null {
  const parts = withoutParentheses(core).split(SEPARATORS).map(bareName).filter(Boolean);
  if (parts.length < 2 || parts.length > 4) return null;
  const kinds = parts.map((part, index) => (index > 0 && alone.has(part) ? undefined : exact.get(part)));
  const extra = parts
    .filter((_, index) => !kinds[index])
    .join(' ')
    .split(' ')
    .filter(Boolean).length;
  for (const kind of ['acceptance', 'done'] as const) if (kinds.includes(kind)) return { kind, extra };
  return null;
}

function isTalkedAbout(core: string): boolean {
  const at = [acceptanceInside, doneInside]
    .map((pattern) => core.search(pattern))
    .filter((index) => index > 0);
  return at.some((index) => ABOUT.test(core.slice(0, index)));
}

function insideName(core: string): Name | null {
  for (const [pattern, kind] of [
    [acceptanceInside, 'acceptance'],
    [doneInside, 'done'],
  ] as const) {
    const found = pattern.exec(core);
    if (!found) continue;
    const before = core.slice(0, found.index);
    const after = withoutParentheses(core.slice(found.index + found[0].length));
    return { kind, extra: countWords(before) + countWords(after) };
  }
  return null;
}

function countWords(text: string): number {
  return text.split(/[^\p{L}\p{N}\p{M}']+/u).filter(Boolean).length;
}

/** Misspelt names: a few wrong, missing or swapped letters in the whole name or in its first words. */
function fuzzyName(core: string): Name | null {
  const words = withoutParentheses(core).split(' ');
  let best: Name | null = null;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const [name, kind] of fuzzy) {
    const count = name.split(' ').length;
    if (words.length > count + 3) continue;
    const wanted = name.replace(/[\s-]/g, '');
    const limit = wanted.length >= 16 ? 3 : 2;
    for (const [start, end] of [
      [0, count],
      [0, words.length],
      [words.length - count, words.length],
    ] as const) {
      const candidate = words.slice(Math.max(start, 0), end).join('').replace(/-/g, '');
      const distance = editDistance(candidate, wanted, Math.min(limit, bestDistance - 1));
      if (distance === null) continue;
      bestDistance = distance;
      best = { kind, extra: words.length - (end - Math.max(start, 0)) };
    }
  }
  return best;
}

/** "Technical notes", "Tasks for the team", "Notes: …" and bilingual names. */
function excludedName(core: string): Name | null {
  const candidates = [
    core.replace(OTHER_ADJECTIVES, ''),
    core.split(AFTER_EXCLUDED)[0] ?? '',
    ...withoutParentheses(core).split(SEPARATORS).map(bareName),
    ...byScript(core),
  ];
  const kinds = candidates.map((candidate) => exact.get(candidate.trim()));
  if (kinds.includes('excluded')) return { kind: 'excluded', extra: 1 };
  return kinds.includes('other') ? { kind: 'other', extra: 1 } : null;
}

function byScript(core: string): string[] {
  const latin = core.replace(/[^\p{Script=Latin}\s'-]+/gu, ' ').trim();
  if (!latin || latin === core) return [];
  return [latin, core.replace(/\p{Script=Latin}+/gu, ' ').trim()].map((part) => part.replace(/\s+/g, ' '));
}

/** A name that opens a section only as a heading or label of its own, too common for a table column. */
export function isCommonName(text: string): boolean {
  const core = bareName(text);
  return alone.has(core) && !/^a\W?c/.test(core);
}
