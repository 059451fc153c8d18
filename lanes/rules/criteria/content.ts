/** What the content of one section says: lists first, else titles, Gherkin, fences, tables, paragraphs, in this order. */
import type { Code, List, RootContent } from 'mdast';
import { areSteps, splitSteps } from './gherkin.ts';
import { type Found, hasBox, readList } from './items.ts';
import { isIndented } from './lead.ts';
import { isHandList, readParagraph } from './lines.ts';
import { isNumberedTitle, isScenarioTitle } from './marks.ts';
import { parseBody } from './parse.ts';
import { add, type Content, isLeadIn, type Part, partsOf, unquoted } from './parts.ts';
import { readParagraphs } from './prose.ts';
import { addScenarios, FENCE_LANGUAGES, readGherkin } from './scenarios.ts';
import type { Block, Section } from './sections.ts';
import { readTable } from './tables.ts';
import { plainText } from './text.ts';
import { readTitle, readTitles } from './titles.ts';

const NOTE = /^(?:legend|legende|légende|key|note|nb|hint|tip|hinweis|remarque|nota)\b/iu;

/** Read one section of the body `source`. */
export function readSection(section: Section, source: string): Content {
  const content: Content = { criteria: [], placeholders: [], context: [], external: [] };
  const parts = partsOf(unquoted(section.blocks));
  const nodes = parts.flatMap((part) => part.nodes);
  if (nodes.some((node) => node.type === 'list')) readParts(parts, source, content);
  else if (
    !readTitles(parts, content) &&
    !readGherkin(parts, content) &&
    !readFences(nodes, source, content)
  ) {
    if (nodes.some((node) => node.type === 'table')) readTables(parts, section.style !== 'column', content);
    else readParagraphs(parts, content);
  }
  return content;
}

/** A section with lists: items are criteria, prose around them is not. */
function readParts(parts: readonly Part[], source: string, content: Content): void {
  for (const part of parts) {
    if (part.title && !part.nodes.some((node) => node.type === 'list') && isNumberedTitle(part.title))
      readTitle(part, content);
    else readPart(part, source, content);
  }
}

function readPart(part: Part, source: string, content: Content): void {
  let title = part.title;
  let previous: List | null = null;
  for (const node of part.nodes) {
    if (node.type === 'list') {
      if (!continues(previous, node, content)) readOneList(node, title, source, content);
      previous = node;
    } else if (node.type === 'paragraph') {
      const text = plainText([node]);
      if (isScenarioTitle(text) && text.length <= 120 && !/[.!]$/.test(text))
        title = text.replace(/\s*[:：]$/, '');
      else if (isHandList(node)) for (const criterion of readParagraph(node)) add(content, criterion, title);
      else if (!isLeadIn(node) && !NOTE.test(text) && text) content.context.push(text);
    }
  }
}

/** Unindented bullets after a numbered item that ends in a colon are its detail. */
function continues(previous: List | null, list: List, content: Content): boolean {
  const last = content.criteria.at(-1);
  if (!previous?.ordered || list.ordered || !last || !/[:：]$/.test(last.text) || hasBox(list)) return false;
  last.detail = [...(last.detail ?? []), ...list.children.map((item) => plainText(item.children))];
  return true;
}

function readOneList(list: List, title: string | null, source: string, content: Content): void {
  const texts = list.children.map((item) => {
    const first = item.children[0];
    return first?.type === 'paragraph' ? plainText([first]) : '';
  });
  if (!hasBox(list) && areSteps(texts)) {
    const steps = list.children.flatMap((item) =>
      item.children.map((child) => plainText([child])).filter(Boolean),
    );
    addScenarios(splitSteps(steps), title, content);
  } else readList(list, { depth: 0, group: title, source }, content);
}

/** A fence counts where it is the section's only content; what it shows as boxes are none that GitHub renders. */
function readFences(nodes: readonly RootContent[], source: string, content: Content): boolean {
  const fences = nodes.filter((node): node is Code => node.type === 'code');
  if (fences.length === 0 || nodes.some((node) => node.type !== 'code' && !isLeadIn(node))) return false;
  for (const fence of fences) {
    if (!FENCE_LANGUAGES.test(fence.lang ?? '') && !isIndented(fence.position?.start.offset, source))
      continue;
    const inner: Found = { criteria: [], placeholders: [] };
    const root = parseBody(fence.value);
    const blocks = root.children.map((node, paragraph): Block => ({ kind: 'node', node, paragraph }));
    const lists = root.children.filter((node) => node.type === 'list');
    if (lists.length > 0)
      for (const list of lists) readList(list, { depth: 0, group: null, source: fence.value }, inner);
    else readParagraphs(partsOf(blocks), { ...content, ...inner, context: [], external: [] });
    for (const criterion of inner.criteria) {
      const box = criterion.checkbox ? { malformed: criterion.checked ? '[x]' : '[ ]' } : {};
      content.criteria.push({ ...criterion, ...box, checked: false, checkbox: false });
    }
    content.placeholders.push(...inner.placeholders);
  }
  return true;
}

function readTables(parts: readonly Part[], owned: boolean, content: Content): void {
  for (const part of parts) {
    for (const node of part.nodes) {
      if (node.type === 'table')
        for (const criterion of readTable(node, owned)) add(content, criterion, part.title);
    }
  }
}
