/**
 * Bounds that hold before a body is parsed. remark is superlinear in nesting and in marks within one paragraph (measured: 64 KB
 * of `> ` overflow the stack, 8 KB of `- ` take seconds), so both are measured here in one linear pass over the characters.
 */

import { type Prefix, readPrefix, SPACE, TAB } from './line-prefix.ts';

/** GitHub's own limit for a body, in characters. */
export const MAX_BODY_CHARS = 65_536;
/** More criteria than this are a case for a person. */
export const MAX_CRITERIA = 200;
/** Quotes and lists opened on one line. */
const MAX_CONTAINERS = 64;
/** Columns that a list marker may be indented. */
const MAX_INDENT = 256;
/** Sum over paragraphs of (marks in it)², the shape of the parser's cost; a million is about 15 ms. */
const MAX_MARK_COST = 50_000_000;
/** Separate quotes, and lines of nothing but `=`, `-`, `_` or `*`: each costs a look over the whole body. */
const MAX_QUOTES = 1_000;
const MAX_RULES = 1_000;

export type Nesting =
  | { kind: 'ok' }
  | { kind: 'too_deep'; what: 'containers' | 'indent' | 'marks' | 'quotes' | 'rules'; line: number };
export type Bounds = Nesting | { kind: 'too_long'; chars: number };

/** Whether a body may be given to the parser. */
export function checkBounds(body: string): Bounds {
  return body.length > MAX_BODY_CHARS ? { kind: 'too_long', chars: body.length } : measureNesting(body);
}

const LF = 10;
const CR = 13;
const BACKTICK = 96;
const TILDE = 126;

/** Characters that begin or end something inside a paragraph, by what one costs the parser against one `*`. */
const WEIGHTS = new Uint8Array(128);
for (const [chars, weight] of [
  ['*_~[!<&`\\@', 1],
  [']', 3],
] as const) {
  for (const char of chars) WEIGHTS[char.charCodeAt(0)] = weight;
}
/** An address without angle brackets costs a look back at everything before it. */
const ADDRESS_WEIGHT = 6;

type Fence = { char: number; length: number; column: number; quoted: boolean };
type Measure = {
  cost: number;
  marks: number;
  fence: Fence | null;
  ordered: number;
  pipes: number;
  table: boolean;
  quotes: number;
  quoted: boolean;
  rules: number;
};

/** Measure nesting and marks. Linear in the body's length. */
export function measureNesting(body: string): Nesting {
  const measure: Measure = {
    cost: 0,
    marks: 0,
    fence: null,
    ordered: -1,
    pipes: 0,
    table: false,
    quotes: 0,
    quoted: false,
    rules: 0,
  };
  let line = 1;
  for (let start = 0; start < body.length; line += 1) {
    let end = start;
    while (end < body.length && body.charCodeAt(end) !== LF && body.charCodeAt(end) !== CR) end += 1;
    const prefix = readPrefix(body, start, end);
    if (prefix.containers > MAX_CONTAINERS) return { kind: 'too_deep', what: 'containers', line };
    if (prefix.indent > MAX_INDENT && prefix.containers > 0 && !measure.fence)
      return { kind: 'too_deep', what: 'indent', line };
    takeLine(measure, body, prefix, end);
    const what = overrun(measure);
    if (what) return { kind: 'too_deep', what, line };
    start = body.charCodeAt(end) === CR && body.charCodeAt(end + 1) === LF ? end + 2 : end + 1;
  }
  return { kind: 'ok' };
}

function overrun(measure: Measure): 'marks' | 'quotes' | 'rules' | null {
  if (measure.cost + measure.marks ** 2 > MAX_MARK_COST) return 'marks';
  if (measure.quotes > MAX_QUOTES) return 'quotes';
  return measure.rules > MAX_RULES ? 'rules' : null;
}

function takeLine(measure: Measure, body: string, prefix: Prefix, end: number): void {
  if (prefix.at >= end && prefix.containers === 0) endParagraph(measure);
  if (stillFenced(measure, body, prefix, end)) return;
  if (prefix.quoted && !measure.quoted) measure.quotes += 1;
  measure.quoted = prefix.quoted;
  if (isRule(body, prefix.at, end)) measure.rules += 1;
  const starts =
    prefix.bullet || prefix.number === 1 || (prefix.number >= 0 && measure.ordered === prefix.indent);
  if (starts) endParagraph(measure);
  if (prefix.number >= 0) measure.ordered = prefix.indent;
  else if (prefix.bullet || prefix.at >= end) measure.ordered = -1;
  const fence = fenceAt(body, prefix, end);
  if (fence) {
    endParagraph(measure);
    measure.fence = fence;
    return;
  }
  if (body[prefix.at] === '#') endParagraph(measure);
  countMarks(measure, body, prefix.at, end);
}

function isRule(body: string, at: number, end: number): boolean {
  const char = body.charCodeAt(at);
  if (at >= end || !'=-_*'.includes(body[at] ?? '')) return false;
  for (let index = at + 1; index < end; index += 1) {
    const code = body.charCodeAt(index);
    if (code !== char && code !== SPACE && code !== TAB) return false;
  }
  return true;
}

function endParagraph(measure: Measure): void {
  measure.cost += measure.marks ** 2;
  measure.marks = 0;
  measure.pipes = 0;
  measure.table = false;
}

/** Code is not parsed for marks. A fence ends with its closing line or with the container that it stands in. */
function stillFenced(measure: Measure, body: string, prefix: Prefix, end: number): boolean {
  const { fence } = measure;
  if (!fence) return false;
  const blank = prefix.at >= end && prefix.containers === 0;
  if (
    (fence.quoted && !prefix.quoted) ||
    (!fence.quoted && !blank && fence.column > 3 && prefix.indent < fence.column - 3)
  ) {
    measure.fence = null;
    return false;
  }
  const closing = runLength(body, prefix.at, end, fence.char);
  if (closing >= fence.length && body.slice(prefix.at + closing, end).trim() === '') measure.fence = null;
  return true;
}

function runLength(body: string, at: number, end: number, code: number): number {
  let length = 0;
  while (at + length < end && body.charCodeAt(at + length) === code) length += 1;
  return length;
}

function fenceAt(body: string, prefix: Prefix, end: number): Fence | null {
  const char = body.charCodeAt(prefix.at);
  if (prefix.at >= end || (char !== BACKTICK && char !== TILDE)) return null;
  const length = runLength(body, prefix.at, end, char);
  if (length < 3 || (char === BACKTICK && body.slice(prefix.at + length, end).includes('`'))) return null;
  return { char, length, column: prefix.column, quoted: prefix.quoted };
}

/** Rows of a table are parsed cell by cell, so each line of one stands for itself. */
function countMarks(measure: Measure, body: string, at: number, end: number): void {
  let marks = 0;
  let pipes = 0;
  let delimiter = true;
  for (let index = at; index < end; index += 1) {
    const code = body.charCodeAt(index);
    if (code < 128) marks += WEIGHTS[code] ?? 0;
    if (code === 124) pipes += 1;
    else if (code !== 45 && code !== 58 && code !== SPACE && code !== TAB) delimiter = false;
    if (code === 119 || code === 87 || code === 58) marks += addressAt(body, index, code);
  }
  if (measure.table) endRow(measure);
  else if (delimiter && pipes > 0 && pipes === measure.pipes) {
    endRow(measure);
    measure.table = true;
  }
  measure.pipes = pipes;
  measure.marks += marks;
}

function endRow(measure: Measure): void {
  measure.cost += measure.marks ** 2;
  measure.marks = 0;
}

function addressAt(body: string, index: number, code: number): number {
  if (code === 58) return body[index + 1] === '/' && body[index + 2] === '/' ? ADDRESS_WEIGHT : 0;
  return /^www\./i.test(body.slice(index, index + 4)) ? ADDRESS_WEIGHT : 0;
}
