/** List items as criteria: every item counts, nested plain bullets are detail, a plain parent of boxes is a group. */
import type { List, ListItem, PhrasingContent } from 'mdast';
import { authorLabel, brokenBox, leadingRefs, stripMarks } from './marks.ts';
import { isPlaceholder } from './placeholders.ts';
import { itemLabel } from './sections.ts';
import { collapse, paragraphOf, plainText, rawText, splitLines } from './text.ts';
import type { ReadCriterion } from './types.ts';

/** Where found criteria and unfilled template text are gathered. */
export type Found = { criteria: ReadCriterion[]; placeholders: string[] };

/** Where a list stands: how deep, in which group, and the source for telling fences from indented code. */
export type Place = { depth: number; group: string | null; source: string };

type Lead = { text: string; raw: string; nodes: PhrasingContent[]; extra: PhrasingContent[][] };

/** Read a whole list. */
export function readList(list: List, place: Place, found: Found): void {
  for (const item of list.children) readItem(item, place, found);
}

function readItem(item: ListItem, place: Place, found: Found): void {
  const lead = leadOf(item, place.source);
  const label = item.children.length > 1 ? itemLabel(item) : null;
  if (label?.name?.kind === 'excluded' && label.name.extra === 0 && label.colon && label.rest.length === 0)
    return;
  const wrapper = label?.name?.kind === 'acceptance' && label.name.extra === 0 && label.rest.length === 0;
  const lists = item.children.filter((child) => child.type === 'list');
  if (!lead.text || wrapper || (isBare(lead, item) && lists.length > 0)) {
    for (const list of lists) readList(list, place, found);
    if (lists.length === 0 && (lead.raw || typeof item.checked === 'boolean'))
      found.placeholders.push(lead.raw || '[ ]');
    return;
  }
  const boxed = isBox(item, lead);
  if (!boxed && lists.some((list) => hasBox(list))) {
    for (const list of lists)
      readList(list, { ...place, depth: place.depth + 1, group: lead.text.replace(/\s*[:：]$/, '') }, found);
    return;
  }
  addItem(item, lead, place, found);
}

/** Only a box and nothing after it. */
function isBare(lead: Lead, item: ListItem): boolean {
  return typeof item.checked !== 'boolean' && brokenBox(lead.text)?.length === lead.text.length;
}

function addItem(item: ListItem, lead: Lead, place: Place, found: Found): void {
  if (isPlaceholder(lead.text)) {
    found.placeholders.push(lead.text);
    for (const child of item.children)
      if (child.type === 'list' && hasBox(child))
        readList(child, { ...place, depth: place.depth + 1 }, found);
    return;
  }
  const checkbox = typeof item.checked === 'boolean';
  const criterion = criterionOf(lead.text, {
    checkbox,
    checked: item.checked === true,
    depth: place.depth,
    bullets: true,
  });
  if (place.group) criterion.group = place.group;
  if (isStruck(lead.nodes)) criterion.struck = true;
  if (criterion.malformed && isEscaped(lead, place.source))
    criterion.malformed = criterion.malformed.replace(/[[\]]/g, '\\$&');
  const marker = markerOf(item);
  if (marker) criterion.marker = marker;
  found.criteria.push(criterion);
  for (const line of lead.extra) {
    const extra = criterionOf(collapse(rawText(line)), {
      checkbox: false,
      checked: false,
      depth: place.depth,
      bullets: true,
    });
    if (line.some((node) => node.type === 'delete')) {
      extra.struck = true;
      if (extra.malformed && line[0]?.type === 'delete') extra.malformed = `~${extra.malformed}~`;
    }
    if (place.group) extra.group = place.group;
    found.criteria.push(extra);
  }
  const detail = readInside(item, place, found, lead);
  if (detail.length > 0) criterion.detail = detail;
}

/** "\[ \]" reads as "[ ]" after parsing; what was cut off is shown as typed. */
function isEscaped(lead: Lead, source: string): boolean {
  const offset = lead.nodes[0]?.position?.start.offset;
  return offset !== undefined && source.startsWith('\\[', offset);
}

/** A criterion from plain text: broken markers cut off, the author's label and references noted. */
export function criterionOf(
  source: string,
  how: { checkbox: boolean; checked: boolean; depth: number; bullets: boolean },
): ReadCriterion {
  const { text, malformed, mark } = stripMarks(source, how.bullets);
  const label = authorLabel(text);
  const refs = leadingRefs(text);
  return {
    text,
    checked: how.checkbox && how.checked,
    checkbox: how.checkbox,
    depth: how.depth,
    ...(label && { label }),
    ...(malformed !== undefined && { malformed }),
    ...(mark !== undefined && { mark }),
    ...(refs.length > 0 && { refs }),
  };
}

/** The first paragraph of an item; lines in it that start with a broken box are items of their own. */
function leadOf(item: ListItem, source: string): Lead {
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

function isBox(item: ListItem, lead: Lead): boolean {
  return typeof item.checked === 'boolean' || brokenBox(lead.text) !== null;
}

/** Whether a list holds a box at any depth. */
export function hasBox(list: List): boolean {
  return list.children.some((item) => {
    if (typeof item.checked === 'boolean') return true;
    const first = item.children[0];
    if (first?.type === 'paragraph' && brokenBox(plainText(first.children)) !== null) return true;
    return item.children.some((child) => child.type === 'list' && hasBox(child));
  });
}

/** What else an item holds: boxes become criteria of their own, the rest is detail. */
function readInside(item: ListItem, place: Place, found: Found, lead: Lead): string[] {
  const detail: string[] = [];
  const deeper: Place = { ...place, depth: place.depth + 1 };
  for (const child of item.children.slice(1)) {
    if (child.type === 'list') nestedList(child, deeper, found, detail);
    else if (child.type === 'code') detail.push(child.value.replace(/\r\n?/g, '\n'));
    else {
      const text = plainText([child]);
      if (text) detail.push(text);
    }
  }
  return lead.nodes.length === 0 ? [] : detail;
}

function nestedList(list: List, place: Place, found: Found, detail: string[]): void {
  for (const item of list.children) {
    const lead = leadOf(item, place.source);
    const lists = item.children.filter((child) => child.type === 'list');
    if (isBox(item, lead) || lists.some(hasBox)) readItem(item, place, found);
    else {
      if (lead.text && !isPlaceholder(lead.text)) detail.push(stripMarks(lead.text, true).text);
      detail.push(...readInside(item, place, found, lead));
    }
  }
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

function markerOf(item: ListItem): string | null {
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
