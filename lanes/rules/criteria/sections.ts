/** Which parts of a body are acceptance sections: where each opens, what belongs to it, where it ends. */
import type { List, RootContent } from 'mdast';
import { stepKind } from './gherkin.ts';
import { itemLabel, type Label, opensTier } from './labels.ts';
import { isNumberedTitle } from './marks.ts';
import type { OutlineStep } from './outline.ts';
import { tableSection } from './tables.ts';
import { paragraphOf, plainText, splitLines } from './text.ts';

export type Block =
  /** A group inside the section; empty where an unnamed one begins. */
  { kind: 'title'; text: string } | { kind: 'node'; node: RootContent; paragraph: number };

export type Section = {
  tier: 1 | 2;
  title: string;
  style: Label['style'];
  level: number;
  /** The heading that encloses it. */
  parent: string | null;
  blocks: Block[];
  /** How many `<details>` were open when it opened. */
  fold: number;
  /** Only the label's own paragraph, and a list right after it, belong to the section. */
  short: boolean;
};

type Scan = {
  sections: Section[];
  current: Section | null;
  headings: Label[];
  fold: number;
  skipFold: number | null;
};

/** Find all sections in document order. */
export function findSections(steps: readonly OutlineStep[]): Section[] {
  const scan: Scan = { sections: [], current: null, headings: [], fold: 0, skipFold: null };
  steps.forEach((step, index) => {
    takeStep(scan, step, steps[index + 1]);
  });
  return scan.sections;
}

function takeStep(scan: Scan, step: OutlineStep, next: OutlineStep | undefined): void {
  if (step.kind === 'open') scan.fold += 1;
  else if (step.kind === 'close') closeFold(scan);
  else if (scan.skipFold !== null) return;
  else if (step.kind === 'label') takeLabel(scan, step.label, step.paragraph, next);
  else if (step.kind === 'inline') {
    if (scan.current && !scan.current.short)
      push(scan, paragraphOf(splitLines(step.label.line)), step.paragraph);
    else openInline(scan, step.label, step.paragraph);
  } else takeNode(scan, step.node, step.paragraph);
}

function closeFold(scan: Scan): void {
  if (scan.current && scan.current.fold === scan.fold && scan.fold > 0) scan.current = null;
  scan.fold = Math.max(0, scan.fold - 1);
  if (scan.skipFold !== null && scan.fold < scan.skipFold) scan.skipFold = null;
}

function openInline(scan: Scan, label: Label, paragraph: number): void {
  const tier = opensTier(label);
  if (!tier) return;
  open(scan, label, tier);
  push(scan, paragraphOf(splitLines(label.rest)), paragraph);
  scan.current = null;
}

function open(scan: Scan, label: Label, tier: 1 | 2): Section {
  const outer = scan.headings
    .filter((heading) => label.style !== 'heading' || heading.level < label.level)
    .at(-1);
  const section: Section = {
    tier,
    title: label.text,
    style: label.style,
    level: label.level,
    parent: outer?.text ?? null,
    blocks: [],
    fold: scan.fold,
    short: label.rest.length > 0,
  };
  scan.sections.push(section);
  scan.current = section;
  return section;
}

function push(scan: Scan, node: RootContent, paragraph: number): void {
  const blocks = scan.current?.blocks;
  if (!blocks) return;
  const last = blocks.at(-1);
  if (
    last?.kind === 'node' &&
    last.paragraph === paragraph &&
    last.node.type === 'paragraph' &&
    node.type === 'paragraph'
  ) {
    last.node = {
      type: 'paragraph',
      children: [...last.node.children, { type: 'text', value: '\n' }, ...node.children],
    };
  } else blocks.push({ kind: 'node', node, paragraph });
}

function takeLabel(scan: Scan, label: Label, paragraph: number, next: OutlineStep | undefined): void {
  const numbered = scan.current !== null && isNumberedTitle(label.text) && label.name?.extra !== 0;
  const tier =
    numbered &&
    !(scan.current?.style === 'heading' && label.style === 'heading' && label.level <= scan.current.level)
      ? null
      : opensTier(label);
  if (label.style === 'heading')
    scan.headings = [...scan.headings.filter((heading) => heading.level < label.level), label];
  if (tier) {
    open(scan, label, tier);
    if (label.rest.length > 0) push(scan, { type: 'paragraph', children: label.rest }, paragraph);
    return;
  }
  const section = scan.current;
  const excluded = label.name?.kind === 'excluded' && label.rest.length === 0;
  if (label.style === 'summary') {
    if (section && excluded) scan.skipFold = scan.fold;
    else if (section)
      section.blocks.push({ kind: 'title', text: isNumberedTitle(label.text) ? label.text : '' });
  } else if (section && endsSection(section, label, numbered, next)) scan.current = null;
  else if (section && (label.style === 'heading' || (label.style === 'bold' && label.rest.length === 0))) {
    section.blocks.push({ kind: 'title', text: label.text });
  } else if (section)
    push(scan, paragraphOf([label.line]), label.style === 'bold' ? -1 - section.blocks.length : paragraph);
}

/** Rule 4 of the reading rules: a heading of the same or a higher level, an excluded name at any level, or the next label. */
function endsSection(
  section: Section,
  label: Label,
  numbered: boolean,
  next: OutlineStep | undefined,
): boolean {
  const kind = label.name?.kind;
  if (section.style === 'heading' || section.style === 'summary') {
    if (label.style === 'heading' && section.style === 'heading' && label.level <= section.level) return true;
    return kind === 'excluded' && label.rest.length === 0;
  }
  if (section.short) return true;
  if (numbered) return false;
  if (label.style === 'heading') return true;
  if (kind === 'excluded' || kind === 'other') return true;
  if (label.rest.length > 0) return section.blocks.some(isListBlock) && stepKind(label.text) === null;
  if (label.style === 'bold') return !isGroup(section, label, next);
  return label.colon && section.blocks.length > 0 && stepKind(label.text) === null;
}

const GROUP_NAME =
  /^(?:non[- ]?functional|functional|must|should|could|nice to have|happy path|unhappy path|sad path|positive|negative|error|back-?end|front-?end|ui|api|mobile|desktop|web|security|performance|accessibility|general|mvp|phase|step|part|group|case|given|when|then|and)\b/i;

/** A bold line below a bold label names a group if it says so, or if steps follow. */
function isGroup(section: Section, label: Label, next: OutlineStep | undefined): boolean {
  if (GROUP_NAME.test(label.text.replace(/^[^\p{L}]+/u, ''))) return true;
  if (next?.kind !== 'node') return false;
  const { node } = next;
  if (node.type === 'list') {
    const first = node.children[0]?.children[0];
    return first?.type === 'paragraph' && stepKind(plainText(first.children)) === 'given';
  }
  return (
    node.type === 'paragraph' && section.style === 'bold' && stepKind(plainText(node.children)) === 'given'
  );
}

function isListBlock(block: Block): boolean {
  return block.kind === 'node' && block.node.type === 'list';
}

function takeNode(scan: Scan, node: RootContent, paragraph: number): void {
  const section = scan.current;
  if (section?.short) {
    const first = section.blocks[0];
    const own = first?.kind === 'node' && first.paragraph === paragraph;
    if (own || (node.type === 'list' && section.blocks.length === 1)) push(scan, node, paragraph);
    else scan.current = null;
    if (scan.current) return;
  } else if (section) {
    if (
      node.type === 'thematicBreak' &&
      section.style !== 'heading' &&
      section.style !== 'summary' &&
      section.blocks.some(isListBlock)
    ) {
      scan.current = null;
    } else push(scan, node, paragraph);
    return;
  }
  if (node.type === 'list') scanList(scan, node, null);
  else if (node.type === 'table') {
    const found = tableSection(node);
    if (found) {
      scan.sections.push({
        tier: found.tier,
        title: found.title,
        style: 'column',
        level: 0,
        parent: null,
        fold: scan.fold,
        short: false,
        blocks: [{ kind: 'node', node, paragraph }],
      });
    }
  }
}

/** Outside a section, a list item that is only a label opens one: its nested content, or the items after it. */
function scanList(scan: Scan, list: List, owner: string | null): void {
  let following: Section | null = null;
  for (const item of list.children) {
    const label = itemLabel(item);
    const tier = label ? opensTier(label) : null;
    const nested = item.children.slice(1);
    if (
      label &&
      tier &&
      (nested.length > 0 || label.rest.length > 0 || (label.colon && item.checked === null))
    ) {
      const section = open(scan, { ...label, style: 'item', rest: [] }, tier);
      if (owner) section.parent = owner;
      if (label.rest.length > 0) push(scan, { type: 'paragraph', children: label.rest }, 0);
      for (const node of nested) push(scan, node, 1);
      scan.current = null;
      following = section.blocks.length === 0 ? section : null;
    } else if (following && !label) {
      const block = following.blocks[0];
      if (block?.kind === 'node' && block.node.type === 'list') block.node.children.push(item);
      else following.blocks.push({ kind: 'node', node: { ...list, children: [item] }, paragraph: 0 });
    } else {
      following = null;
      const text = item.children[0]?.type === 'paragraph' ? plainText(item.children[0].children) : null;
      for (const child of item.children) if (child.type === 'list') scanList(scan, child, text || owner);
    }
  }
}
