/** The content of a section in parts: what stands before the first title, and what stands below each. */
import type { Paragraph, RootContent } from 'mdast';
import { criterionOf, type Found } from './items.ts';
import { authorLabel } from './marks.ts';
import { isPlaceholder } from './placeholders.ts';
import type { Block } from './sections.ts';
import { plainText } from './text.ts';
import type { ReadCriterion } from './types.ts';

export type Content = Found & { context: string[]; external: string[] };

export type Part = { title: string | null; nodes: RootContent[] };

/** Blocks by the title that they stand below. */
export function partsOf(blocks: readonly Block[]): Part[] {
  const parts: Part[] = [{ title: null, nodes: [] }];
  for (const block of blocks) {
    if (block.kind === 'title') parts.push({ title: block.text || null, nodes: [] });
    else parts.at(-1)?.nodes.push(block.node);
  }
  return parts;
}

/** A quote is layout where it is the only content; one with a heading of its own quotes something else. */
export function unquoted(blocks: readonly Block[]): Block[] {
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
export function isLeadIn(node: RootContent): boolean {
  if (node.type !== 'paragraph') return node.type === 'thematicBreak' || node.type === 'html';
  const text = plainText([node]);
  return (
    /[:：]$/.test(text) || node.children.every((child) => child.type === 'emphasis') || isPlaceholder(text)
  );
}

/** Put a criterion where it belongs: template text is none. */
export function add(content: Found, criterion: ReadCriterion, group: string | null): void {
  if (isPlaceholder(criterion.text)) content.placeholders.push(criterion.text);
  else content.criteria.push(group && !criterion.group ? { ...criterion, group } : criterion);
}

/** A criterion without a checkbox. */
export function plainCriterion(text: string, detail: readonly string[]): ReadCriterion {
  const criterion = criterionOf(text, { checkbox: false, checked: false, depth: 0, bullets: true });
  return detail.length > 0 ? { ...criterion, detail: [...detail] } : criterion;
}
