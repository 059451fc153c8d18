/** Which kind of section a heading or label names, whatever decoration, spelling or language it comes in. */
import { ACCEPTANCE, ACCEPTANCE_ALONE, DONE, DONE_ALONE } from './lexicon.ts';
import { EXCLUDED, OTHER, OTHER_ADJECTIVES } from './lexicon-other.ts';
import { editDistance } from './similarity.ts';
import { foldName } from './text.ts';

type NameKind = 'acceptance' | 'done' | 'excluded' | 'other';

/** `extra` counts the words around the known name; 0 where the name is the whole of it. */
export type Name = { kind: NameKind; extra: number };

const MAX_NAME_CHARS = 160;
const MAX_FUZZY_WORDS = 7;
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
const unspacedScript = /[\p{Script=Han}\p{Script=Kana}\p{Script=Hira}\p{Script=Thai}]/u;
const known: readonly (readonly [string, 'acceptance' | 'done'])[] = [
  ...ACCEPTANCE.map((name) => [foldName(name), 'acceptance'] as const),
  ...DONE.map((name) => [foldName(name), 'done'] as const),
];
/** Names in scripts that write no spaces are looked for anywhere, the others as whole words, by their first word. */
const unspaced = known.filter(([name]) => unspacedScript.test(name));
const byFirstWord = new Map<string, { words: readonly string[]; kind: NameKind }[]>();
for (const [name, kind] of known) {
  const words = wordsOf(name);
  const first = words[0] ?? '';
  byFirstWord.set(first, [...(byFirstWord.get(first) ?? []), { words, kind }]);
}
const fuzzy = known
  .filter(([name]) => name.length >= 12 && /^[\p{Script=Latin}\p{Script=Cyrillic}\s'-]+$/u.test(name))
  .map(([name, kind]) => {
    const letters = name.replace(/[\s-]/g, '');
    return {
      letters,
      kind,
      count: name.split(' ').length,
      limit: letters.length >= 16 ? 3 : 2,
      mask: letterMask(letters),
    };
  });

function wordsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{N}\p{M}]+/u).filter(Boolean);
}

/** Which letters occur, as bits: two texts whose masks differ in many bits need not be compared. */
function letterMask(text: string): number {
  let mask = 0;
  for (let index = 0; index < text.length; index += 1) mask |= 1 << (text.charCodeAt(index) & 31);
  return mask;
}

function bitCount(value: number): number {
  let rest = value;
  let count = 0;
  for (; rest !== 0; count += 1) rest &= rest - 1;
  return count;
}

/** The name without emoji, numbering, quotes and the trailing colon. */
function bareName(text: string): string {
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
  const inside = insideName(withoutParentheses(core)) ?? insideName(core);
  if (inside) return inside === 'talked about' ? excludedName(core) : inside;
  return fuzzyName(core) ?? excludedName(core);
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

/** A known name with other words around it. */
function insideName(core: string): Name | 'talked about' | null {
  const words = wordsOf(core);
  let found: { kind: NameKind; at: number; length: number } | null = null;
  words.forEach((word, at) => {
    for (const { words: wanted, kind } of byFirstWord.get(word) ?? []) {
      if (found && (found.kind === 'acceptance' || kind === 'done')) continue;
      if (wanted.every((part, index) => words[at + index] === part))
        found = { kind, at, length: wanted.length };
    }
  });
  if (!found && unspacedScript.test(core)) return insideUnspaced(core);
  if (!found) return null;
  const { kind, at, length }: { kind: NameKind; at: number; length: number } = found;
  if (ABOUT.test(words.slice(0, at).join(' '))) return 'talked about';
  return { kind, extra: words.length - length };
}

function insideUnspaced(core: string): Name | null {
  const found = unspaced.find(([name]) => core.includes(name));
  return found ? { kind: found[1], extra: Math.max(1, wordsOf(core).length - 1) } : null;
}

/** Misspelt names: a few wrong, missing or swapped letters in the whole name, or in its first or last words. */
function fuzzyName(core: string): Name | null {
  const words = withoutParentheses(core).split(' ');
  if (words.length > MAX_FUZZY_WORDS) return null;
  let best: Name | null = null;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const part of partsOfWords(words)) {
    for (const { letters, kind, count, limit, mask } of fuzzy) {
      if (part.count !== count && part.count !== words.length) continue;
      if (Math.abs(part.letters.length - letters.length) > limit || bitCount(part.mask ^ mask) > 2 * limit)
        continue;
      const distance = editDistance(part.letters, letters, Math.min(limit, bestDistance - 1));
      if (distance === null) continue;
      bestDistance = distance;
      best = { kind, extra: words.length - part.count };
    }
  }
  return best;
}

/** The whole, and up to four words from either end, joined. */
function partsOfWords(words: readonly string[]) {
  const parts = [words];
  for (let count = 1; count <= 4 && count < words.length; count += 1) {
    parts.push(words.slice(0, count), words.slice(words.length - count));
  }
  return parts.map((part) => {
    const letters = part.join('').replace(/-/g, '');
    return { letters, count: part.length, mask: letterMask(letters) };
  });
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
