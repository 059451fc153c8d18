/**
 * The lines of a comment that speak to a lane: those that begin with `/lane` where Markdown shows them as plain text,
 * so not in code, quotes, tables or HTML. The parser decides what is text; only its text is searched.
 */
import type { Heading, Nodes, Paragraph } from 'mdast';
import { checkBounds } from '../criteria/bounds.ts';
import { parseBody } from '../criteria/parse.ts';
import { stripHidden } from '../hidden.ts';

/** What a line is called by. Telephones write the first letter large. */
const call = /^\/lane(?=\s|$)/i;
/** Nothing to parse for: most comments. */
const anywhere = /\/lane/i;

export type CommandLines = { kind: 'lines'; lines: string[] } | { kind: 'unreadable' };

interface Span {
  readonly start: number;
  readonly end: number;
}

/** The lines, trimmed, without HTML comments and hidden characters. `unreadable` where parsing would be too costly. */
export function commandLines(body: string): CommandLines {
  if (!anywhere.test(body)) return { kind: 'lines', lines: [] };
  if (checkBounds(body).kind !== 'ok') return { kind: 'unreadable' };
  const lines: string[] = [];
  for (const block of textBlocks(parseBody(body))) lines.push(...linesOf(block, body));
  return { kind: 'lines', lines };
}

/**
 * Paragraphs outside quotes. A heading that is underlined counts too: a signature of an e-mail answer (`--`) below a
 * command makes one of it.
 */
function textBlocks(node: Nodes): (Paragraph | Heading)[] {
  if (node.type === 'paragraph' || node.type === 'heading') return [node];
  if (node.type !== 'root' && node.type !== 'list' && node.type !== 'listItem') return [];
  return node.children.flatMap((child) => textBlocks(child));
}

function linesOf(block: Paragraph | Heading, body: string): string[] {
  const span = spanOf(block);
  if (span === undefined || (block.type === 'heading' && body[span.start] === '#')) return [];
  const lines: string[] = [];
  for (const line of rawLines(body, span)) {
    if (!call.test(body.slice(line.start, line.end)) || !isText(block, line.start)) continue;
    // A backslash at the end of a line is Markdown's line break.
    const words = stripHidden(body.slice(line.start, line.end)).text.trim();
    lines.push(words.replace(/\\$/, '').trim());
  }
  return lines;
}

/** The source lines of a block that begin with its text: the first one not where a list marker stands before it. */
function rawLines(body: string, { start, end }: Span): Span[] {
  const lines: Span[] = [];
  const lineStart = Math.max(body.lastIndexOf('\n', start - 1), body.lastIndexOf('\r', start - 1)) + 1;
  let at = body.slice(lineStart, start).trim() === '' ? start : nextLine(body, start, end);
  while (at < end) {
    while (at < end && (body[at] === ' ' || body[at] === '\t')) at += 1;
    const next = nextLine(body, at, end);
    lines.push({ start: at, end: next });
    at = next;
  }
  return lines;
}

function nextLine(body: string, from: number, end: number): number {
  let at = from;
  while (at < end && body[at] !== '\n' && body[at] !== '\r') at += 1;
  while (at < end && (body[at] === '\n' || body[at] === '\r')) at += 1;
  return at;
}

function isText(block: Paragraph | Heading, offset: number): boolean {
  const covering = block.children.find((child) => {
    const span = spanOf(child);
    return span !== undefined && span.start <= offset && offset < span.end;
  });
  return covering?.type === 'text';
}

function spanOf(node: Nodes): Span | undefined {
  const start = node.position?.start.offset;
  const end = node.position?.end.offset;
  return start === undefined || end === undefined ? undefined : { start, end };
}
