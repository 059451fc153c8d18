/** The body as one row of steps: labels that may open or close a section, and content between them. */
import type { List, Paragraph, PhrasingContent, RootContent } from 'mdast';
import { readHtml } from './html.ts';
import { headingLabel, inlineLabel, type Label, labelText, lineLabel } from './labels.ts';
import { classifyName } from './names.ts';
import { paragraphOf, rawText, splitLines } from './text.ts';

export type OutlineStep =
  | { kind: 'label'; label: Label; paragraph: number }
  /** A label in the middle of a sentence; only its own paragraph belongs to it. */
  | { kind: 'inline'; label: Label; paragraph: number }
  | { kind: 'node'; node: RootContent; paragraph: number }
  | { kind: 'open' }
  | { kind: 'close' };

/** Lay out the top-level nodes of a tree. */
export function outline(nodes: readonly RootContent[]): OutlineStep[] {
  const steps: OutlineStep[] = [];
  nodes.forEach((node, index) => {
    if (node.type === 'heading')
      steps.push({ kind: 'label', label: headingLabel(node.children, node.depth), paragraph: index });
    else if (node.type === 'paragraph') paragraphSteps(node, index, steps);
    else if (node.type === 'html') htmlSteps(node.value, index, steps);
    else if (node.type === 'list') listSteps(node, index, steps);
    else if (node.type !== 'definition' && node.type !== 'footnoteDefinition' && node.type !== 'yaml') {
      steps.push({ kind: 'node', node, paragraph: index });
    }
  });
  return steps;
}

function paragraphSteps(node: Paragraph, paragraph: number, steps: OutlineStep[]): void {
  if (!mayHoldLabel(node)) {
    steps.push({ kind: 'node', node, paragraph });
    return;
  }
  const lines = splitLines(node.children);
  let pending: typeof lines = [];
  const flush = () => {
    if (pending.length > 0) steps.push({ kind: 'node', node: paragraphOf(pending), paragraph });
    pending = [];
  };
  lines.forEach((line, index) => {
    const edge = index === 0 || index === lines.length - 1;
    const label = lineLabel(line, edge);
    const inline = label ? null : inlineLabel(line);
    if (!label && !inline) {
      pending.push(line);
      return;
    }
    flush();
    if (label) steps.push({ kind: 'label', label, paragraph });
    else if (inline) {
      const rest =
        index < lines.length - 1
          ? lines.slice(index + 1).flatMap((next) => [{ type: 'break' } as const, ...next])
          : [];
      steps.push({ kind: 'inline', label: { ...inline, rest: [...inline.rest, ...rest] }, paragraph });
      lines.length = index + 1;
    }
  });
  flush();
}

/** A label glued to the last line of an item, without a blank line, splits the list where a reader sees it end. */
function listSteps(list: List, paragraph: number, steps: OutlineStep[]): void {
  let items: List['children'] = [];
  const flush = () => {
    if (items.length > 0) steps.push({ kind: 'node', node: { ...list, children: items }, paragraph });
    items = [];
  };
  for (const item of list.children) {
    const [first, ...others] = item.children;
    const lines = first?.type === 'paragraph' && others.length === 0 ? splitLines(first.children) : [];
    const at = lines.findIndex((line, index) => index > 0 && isGluedLabel(line));
    if (at < 0) items.push(item);
    else {
      items.push({ ...item, children: [paragraphOf(lines.slice(0, at))] });
      flush();
      paragraphSteps(paragraphOf(lines.slice(at)), paragraph, steps);
    }
  }
  flush();
}

function isGluedLabel(line: readonly PhrasingContent[]): boolean {
  const label = lineLabel(line, true);
  if (!label || label.style === 'heading') return label !== null;
  const known =
    label.name?.kind === 'acceptance' || label.name?.kind === 'done' || label.name?.kind === 'excluded';
  return (
    known && label.name?.extra === 0 && (label.colon || label.style === 'bold') && label.rest.length === 0
  );
}

/** Most paragraphs are prose without any sign of a label; they need no look at their lines. */
function mayHoldLabel(node: Paragraph): boolean {
  if (
    node.children.some(
      (child) => child.type === 'strong' || child.type === 'emphasis' || child.type === 'html',
    )
  )
    return true;
  const raw = rawText(node.children);
  return /[:：#]/.test(raw) || raw.split(/[\r\n]+/).some((line) => line.length <= 80);
}

function htmlSteps(source: string, paragraph: number, steps: OutlineStep[]): void {
  for (const piece of readHtml(source)) {
    if (piece.kind === 'open' || piece.kind === 'close') steps.push(piece);
    else if (piece.kind === 'summary') {
      const text = labelText(piece.text);
      const label: Label = {
        style: 'summary',
        level: 0,
        text,
        name: classifyName(text),
        colon: true,
        rest: [],
        line: [{ type: 'text', value: text }],
      };
      steps.push({ kind: 'label', label, paragraph });
    } else if (piece.node.type === 'heading') {
      steps.push({ kind: 'label', label: headingLabel(piece.node.children, piece.node.depth), paragraph });
    } else if (piece.node.type === 'paragraph') paragraphSteps(piece.node, paragraph, steps);
    else steps.push({ kind: 'node', node: piece.node, paragraph });
  }
}
