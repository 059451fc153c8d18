/** What the content of one section says: lists first, else titles, Gherkin, fences, tables, paragraphs, in this order. */
import type { Code, List, Paragraph, RootContent } from 'mdast';
import { areSteps, readFeature, type Scenario, scenarioName, splitSteps, stepKind } from './gherkin.ts';
import { criterionOf, type Found, hasBox, isIndented, readList } from './items.ts';
import { isHandList, readParagraph } from './lines.ts';
import { externalLinks } from './links.ts';
import { authorLabel, isNumberedTitle, isScenarioTitle } from './marks.ts';
import { parseBody } from './parse.ts';
import { isPlaceholder } from './placeholders.ts';
import type { Block, Section } from './sections.ts';
import { readTable } from './tables.ts';
import { collapse, plainText, rawText } from './text.ts';
import type { ReadCriterion } from './types.ts';

export type Content = Found & { context: string[]; external: string[] };

type Part = { title: string | null; nodes: RootContent[] };

const FENCE_LANGUAGES = /^(?:markdown|md|gfm|text|txt|plain|plaintext|gherkin|feature|cucumber|none|)$/i;
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

function partsOf(blocks: readonly Block[]): Part[] {
  const parts: Part[] = [{ title: null, nodes: [] }];
  for (const block of blocks) {
    if (block.kind === 'title') parts.push({ title: block.text || null, nodes: [] });
    else parts.at(-1)?.nodes.push(block.node);
  }
  return parts;
}

/** A quote is layout where it is the only content; one with a heading of its own quotes something else. */
function unquoted(blocks: readonly Block[]): Block[] {
  const others = blocks.filter(
    (block) => block.kind === 'node' && !isQuote(block.node) && !isLeadIn(block.node),
  );
  const unwrapped = blocks.flatMap((block): Block[] => {
    if (block.kind !== 'node' || block.node.type !== 'blockquote') return [block];
    if (block.node.children.some((child) => child.type === 'heading')) return [];
    const children = block.node.children.map((child) =>
      child.type === 'paragraph' ? withoutAlert(child) : child,
    );
    return children.map((node, index): Block => ({ kind: 'node', node, paragraph: -1000 - index }));
  });
  const labelled = unwrapped.some(
    (block) =>
      block.kind === 'node' &&
      block.node.type === 'paragraph' &&
      authorLabel(plainText([block.node])) !== null,
  );
  const onlyProse = others.every((block) => block.kind === 'node' && block.node.type === 'paragraph');
  if (others.length === 0 || (labelled && onlyProse)) return unwrapped;
  return blocks.filter((block) => block.kind !== 'node' || !isQuote(block.node));
}

function isQuote(node: RootContent): boolean {
  return node.type === 'blockquote';
}

/** GitHub's alerts begin with "[!NOTE]". */
function withoutAlert(node: Paragraph): Paragraph {
  const [first, ...rest] = node.children;
  if (first?.type !== 'text') return node;
  return { ...node, children: [{ ...first, value: first.value.replace(/^\[![A-Z]+\]\s*/, '') }, ...rest] };
}

/** Prose that only leads to what follows: it ends in a colon, is a hint in italics, or is template help. */
function isLeadIn(node: RootContent): boolean {
  if (node.type !== 'paragraph') return node.type === 'thematicBreak' || node.type === 'html';
  const text = plainText([node]);
  return (
    /[:：]$/.test(text) || node.children.every((child) => child.type === 'emphasis') || isPlaceholder(text)
  );
}

function add(content: Found, criterion: ReadCriterion, group: string | null): void {
  if (isPlaceholder(criterion.text)) content.placeholders.push(criterion.text);
  else content.criteria.push(group && !criterion.group ? { ...criterion, group } : criterion);
}

function plainCriterion(text: string, detail: readonly string[]): ReadCriterion {
  const criterion = criterionOf(text, { checkbox: false, checked: false, depth: 0, bullets: true });
  return detail.length > 0 ? { ...criterion, detail: [...detail] } : criterion;
}

function addScenarios(scenarios: readonly Scenario[], title: string | null, content: Content): void {
  const [only] = scenarios;
  if (title && only && scenarios.length === 1 && only.name === null) {
    content.criteria.push(plainCriterion(scenarioName(title) ?? title, only.steps));
    return;
  }
  for (const { name, steps } of scenarios) {
    if (name && !isPlaceholder(name)) add(content, plainCriterion(name, steps), title);
    else if (steps.length > 0) add(content, plainCriterion(steps.join(' '), []), title);
    else if (name) content.placeholders.push(name);
  }
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

/** Labelled sub-headings without lists: each title is a criterion, what stands below is its detail. */
function readTitles(parts: readonly Part[], content: Content): boolean {
  const titled = parts.filter(
    (part) => part.title && (isNumberedTitle(part.title) || /^\d+(?:\.\d+)*[.)]?\s/.test(part.title)),
  );
  if (titled.length === 0) return false;
  for (const part of parts) {
    if (titled.includes(part)) readTitle(part, content);
    else if (part.title) readParagraphs([part], content);
  }
  return true;
}

function readTitle(part: Part, content: Content): void {
  const title = part.title ?? '';
  const texts = part.nodes.flatMap(textsOf);
  const feature = readFeature(texts.join('\n'));
  const prose = part.nodes
    .filter((node) => node.type === 'paragraph' || node.type === 'code')
    .map((node) => plainText([node]))
    .filter(Boolean);
  if (feature && (feature.scenarios.length > 1 || feature.scenarios[0]?.name))
    addScenarios(feature.scenarios, title, content);
  else if (isPlaceholder(title)) {
    const [text, ...detail] = prose.filter((line) => !isPlaceholder(line));
    if (!text) content.placeholders.push(title);
    else content.criteria.push({ ...plainCriterion(text, detail), label: authorLabel(title) ?? title });
  } else {
    const steps = feature ? feature.scenarios.flatMap((scenario) => scenario.steps) : prose;
    add(
      content,
      plainCriterion(
        scenarioName(title) ?? title,
        steps.filter((line) => !isPlaceholder(line)),
      ),
      null,
    );
  }
}

function textsOf(node: RootContent): string[] {
  if (node.type === 'code') return node.value.split(/\r\n|\r|\n/);
  return node.type === 'paragraph' ? rawText([node]).split(/\r\n|\r|\n/) : [];
}

/** Scenarios in fences and in paragraphs. */
function readGherkin(parts: readonly Part[], content: Content): boolean {
  const found = parts.map((part) => ({ part, ...gherkinOf(part) }));
  if (found.every(({ scenarios }) => scenarios.length === 0)) return false;
  for (const { part, scenarios, background, prose } of found) {
    content.context.push(...background);
    addScenarios(scenarios, part.title, content);
    for (const node of scenarios.length > 0 ? [] : prose)
      for (const criterion of readParagraph(node)) add(content, criterion, part.title);
  }
  return true;
}

function gherkinOf(part: Part): { scenarios: Scenario[]; background: string[]; prose: Paragraph[] } {
  const result = { scenarios: [] as Scenario[], background: [] as string[], prose: [] as Paragraph[] };
  let run: string[] = [];
  const flush = () => {
    if (areSteps(run)) result.scenarios.push(...splitSteps(run));
    else result.scenarios.push(...run.map((text): Scenario => ({ name: null, steps: [text] })));
    run = [];
  };
  for (const node of part.nodes) {
    if (node.type !== 'code' && node.type !== 'paragraph') continue;
    if (node.type === 'code' && !FENCE_LANGUAGES.test(node.lang ?? '')) continue;
    const lines = textsOf(node).map(collapse).filter(Boolean);
    const feature = lines.length > 1 || node.type === 'code' ? readFeature(textsOf(node).join('\n')) : null;
    if (feature) {
      flush();
      result.scenarios.push(...feature.scenarios);
      result.background.push(...feature.background);
    } else if (lines.length === 1 && (stepKind(lines[0] ?? '') || scenarioName(lines[0] ?? '') !== null))
      run.push(lines[0] ?? '');
    else if (node.type === 'paragraph') result.prose.push(node);
  }
  const real = result.scenarios.length > 0 || areSteps(run);
  if (real) flush();
  return result;
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

/** Paragraphs: lead-ins before others are no criteria, and after a rule stands a footer. */
function readParagraphs(parts: readonly Part[], content: Content): void {
  const paragraphs = parts.flatMap((part) => {
    const rule = part.nodes.findIndex((node, index) => index > 0 && node.type === 'thematicBreak');
    const own = rule < 0 ? part.nodes : part.nodes.slice(0, rule);
    return own
      .filter((node): node is Paragraph => node.type === 'paragraph')
      .map((node) => ({ node, title: part.title }));
  });
  const links = paragraphs.map(({ node }) => externalLinks(node));
  if (paragraphs.length > 0 && links.every((urls) => urls.length > 0)) {
    content.external.push(...links.flat());
    return;
  }
  paragraphs.forEach(({ node, title }, index) => {
    const text = plainText([node]);
    if (!text && !node.children.some((child) => child.type === 'html')) return;
    if (/[:：]$/.test(text) && index < paragraphs.length - 1 && !isPlaceholder(text)) return;
    const hint = node.children.every((child) => child.type === 'emphasis') && /[?…]$/.test(text);
    if (hint) content.placeholders.push(text);
    else if (text && isPlaceholder(text)) content.placeholders.push(text);
    else for (const criterion of readParagraph(node)) if (criterion.text) add(content, criterion, title);
  });
}
