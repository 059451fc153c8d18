/** Plain text of Markdown nodes: what a reader sees, without marks, images, raw HTML and footnote references. */
import type { Nodes, Paragraph, PhrasingContent } from 'mdast';

const INVISIBLE = /^[\p{Cf}\s]$/u;
const BREAK_TAG = /^<br\s*\/?>$/i;
const PLAIN_ASCII = /^[\x20-\x7e]*$/;
const NEW_LINE = /\r\n|\r|\n/;

/** Text with its line breaks kept, white space as typed. */
export function rawText(nodes: readonly Nodes[]): string {
  let out = '';
  for (const node of nodes) out += rawOf(node);
  return out;
}

function rawOf(node: Nodes): string {
  switch (node.type) {
    case 'text':
    case 'inlineCode':
      return node.value;
    case 'break':
      return '\n';
    case 'html':
      return BREAK_TAG.test(node.value) ? '\n' : '';
    case 'image':
    case 'imageReference':
    case 'footnoteReference':
    case 'definition':
    case 'footnoteDefinition':
      return '';
    case 'code':
      return node.value;
    default:
      return 'children' in node ? rawText(node.children) : '';
  }
}

/** Runs of white space become one space; invisible characters go at both ends only, never inside. */
export function collapse(text: string): string {
  return trimEnd(text.replace(/\s+/g, ' ').replace(/^[\p{Cf}\s]+/u, ''), INVISIBLE);
}

/** Cut characters that match `one` off the end. A pattern ending in `+$` would look at each run again for each of its characters. */
export function trimEnd(text: string, one: RegExp): string {
  let end = text.length;
  while (end > 0) {
    const pair = text.codePointAt(end - 2) ?? 0;
    const width = end > 1 && pair > 0xffff ? 2 : 1;
    if (!one.test(text.slice(end - width, end))) break;
    end -= width;
  }
  return text.slice(0, end);
}

/** Plain text in one line; the alternative text of images only if nothing else is left. */
export function plainText(nodes: readonly Nodes[]): string {
  return collapse(rawText(nodes)) || collapse(altText(nodes));
}

function altText(nodes: readonly Nodes[]): string {
  return nodes
    .map((node) => {
      if (node.type === 'image' || node.type === 'imageReference') return node.alt ?? '';
      return 'children' in node ? altText(node.children) : '';
    })
    .join(' ');
}

/** The lines of a paragraph as the author broke them; a mark that spans lines keeps them together. */
export function splitLines(nodes: readonly PhrasingContent[]): PhrasingContent[][] {
  const lines: PhrasingContent[][] = [[]];
  for (const node of nodes) {
    if (node.type === 'break' || (node.type === 'html' && BREAK_TAG.test(node.value))) lines.push([]);
    else if (node.type === 'text' && NEW_LINE.test(node.value)) {
      node.value.split(NEW_LINE).forEach((value, index) => {
        if (index > 0) lines.push([]);
        if (value) lines.at(-1)?.push({ type: 'text', value });
      });
    } else lines.at(-1)?.push(node);
  }
  return lines.filter((line) => line.some((node) => node.type !== 'text' || node.value.trim()));
}

/** A paragraph made of lines. */
export function paragraphOf(lines: readonly PhrasingContent[][]): Paragraph {
  const children = lines.flatMap((line, index): PhrasingContent[] =>
    index === 0 ? line : [{ type: 'text', value: '\n' }, ...line],
  );
  return { type: 'paragraph', children };
}

/** The nodes that remain after `count` characters of raw text are cut off the front. */
export function dropText(nodes: readonly PhrasingContent[], count: number): PhrasingContent[] {
  const rest: PhrasingContent[] = [];
  let left = count;
  for (const node of nodes) {
    const length = rawOf(node).length;
    if (left <= 0) rest.push(node);
    else if (length <= left) left -= length;
    else {
      if (node.type === 'text') rest.push({ ...node, value: node.value.slice(left) });
      else if ('children' in node)
        rest.push({ ...node, children: dropText(node.children, left) } as PhrasingContent);
      else rest.push(node);
      left = 0;
    }
  }
  return rest;
}

/** One spelling for matching: composed, folded quotes, dashes and ellipsis, case and white space. */
export function normalise(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[‘’‚‛′`´]/g, "'")
    .replace(/[“”„‟″«»]/g, '"')
    .replace(/[‐-―−]/g, '-')
    .replace(/…/g, '...')
    .replace(/\p{Cf}/gu, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}

/** Coarser, for names only: also without accents. */
export function foldName(text: string): string {
  if (PLAIN_ASCII.test(text)) return text.toLowerCase().replace(/`/g, "'").replace(/\s+/g, ' ').trim();
  return normalise(text)
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC');
}
