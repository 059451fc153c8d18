/** How a list item begins: its first paragraph, what it lost, and what is hidden in it. */
import type { ListItem, PhrasingContent } from 'mdast';
import { brokenBox } from './marks.ts';
import { collapse, paragraphOf, plainText, rawText, splitLines } from './text.ts';

export type Lead = { text: string; raw: string; nodes: PhrasingContent[]; extra: PhrasingContent[][] };

/** "\[ \]" reads as "[ ]" after parsing; what was cut off is shown as typed. */
export function isEscaped(lead: Lead, source: string): boolean {
  const offset = lead.nodes[0]?.position?.start.offset;
  return offset !== undefined && source.startsWith('\\[', offset);
}

/** The first paragraph of an item; lines in it that start with a broken box are items of their own. */
export function leadOf(item: ListItem, source: string): Lead {
  const first = item.children[0];
  if (first?.type === 'paragraph' || first?.type === 'heading') {
    const lines = splitLines(first.children);
    const at = lines.findIndex((line, index) => index > 0 && isLostItem(line));
    const own = at < 0 ? first.children : paragraphOf(lines.slice(0, at)).children;
    const extra = at < 0 ? [] : gatherLost(lines.slice(at));
    return { text: plainText(own), raw: plainText(own) || htmlText(own), nodes: own, extra };
  }
  if (
    first?.type === 'code' &&
    item.children.length === 1 &&
    isIndented(first.position?.start.offset, source)
  ) {
    return { text: collapse(first.value), raw: '', nodes: [], extra: [] };
  }
  return { text: '', raw: '', nodes: [], extra: [] };
}

function isLostItem(line: readonly PhrasingContent[]): boolean {
  const text = collapse(rawText(line));
  return brokenBox(text) !== null || /^[-*+•](?=\p{Lu})/u.test(text);
}

function gatherLost(lines: readonly PhrasingContent[][]): PhrasingContent[][] {
  const items: PhrasingContent[][] = [];
  for (const line of lines) {
    if (isLostItem(line) || items.length === 0) items.push([...line]);
    else items.at(-1)?.push({ type: 'text', value: ' ' }, ...line);
  }
  return items.map((line) => {
    const first = line[0];
    if (first?.type !== 'text' || !/^\s*[-*+](?=\p{Lu})/u.test(first.value)) return line;
    return [{ ...first, value: first.value.replace(/^\s*[-*+]/, '• ') }, ...line.slice(1)];
  });
}

/** "<criterion>" is raw HTML to the parser and template text to a reader; comments and real tags are neither. */
function htmlText(nodes: readonly PhrasingContent[]): string {
  const html = nodes.find((node) => node.type === 'html' && /^<[a-z][\w -]*>$/i.test(node.value));
  return html?.type === 'html' ? html.value : '';
}

export function isIndented(offset: number | undefined, source: string): boolean {
  const start = offset === undefined ? '' : source.slice(offset).match(/^[\s>]*(\S)/)?.[1];
  return start !== '`' && start !== '~';
}

/** Struck: the leading text, after an optional label, is wholly struck through. */
export function isStruck(nodes: readonly PhrasingContent[]): boolean {
  const first = nodes.find(
    (node) =>
      !(node.type === 'text' && !/[\p{L}\p{N}]/u.test(node.value)) &&
      !(node.type === 'html' && node.value.startsWith('<!--')),
  );
  return first?.type === 'delete' || (first?.type === 'html' && /^<(?:del|s|strike)>$/i.test(first.value));
}

export function markerOf(item: ListItem): string | null {
  const first = item.children[0];
  return first?.type === 'paragraph' ? commentOf(first.children) : null;
}

/** The text of the first HTML comment, where it is short enough to be an id. */
export function commentOf(nodes: readonly PhrasingContent[]): string | null {
  for (const node of nodes) {
    const found = node.type === 'html' ? /^<!--+\s*([^<>]{1,64}?)\s*--+>$/.exec(node.value) : null;
    if (found?.[1]) return found[1];
  }
  return null;
}
