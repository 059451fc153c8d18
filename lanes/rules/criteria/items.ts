/** List items as criteria: every item counts, nested plain bullets are detail, a plain parent of boxes is a group. */
import type { List, ListItem } from 'mdast';
import { itemLabel } from './labels.ts';
import { isEscaped, isStruck, type Lead, leadOf, markerOf } from './lead.ts';
import { authorLabel, brokenBox, leadingRefs, stripMarks } from './marks.ts';
import { isPlaceholder } from './placeholders.ts';

import { collapse, plainText, rawText } from './text.ts';
import type { ReadCriterion } from './types.ts';

/** Where found criteria and unfilled template text are gathered. */
export type Found = { criteria: ReadCriterion[]; placeholders: string[] };

/** Where a list stands: how deep, in which group, and the source for telling fences from indented code. */
export type Place = { depth: number; group: string | null; source: string };

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
