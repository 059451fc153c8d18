/** Lines that may name a section: whole-line bold, "label:", "###Label" without a space, or a known name alone. */
import type { ListItem, Paragraph, PhrasingContent } from 'mdast';
import { authorLabel, isNumberedTitle } from './marks.ts';
import { classifyName, type Name } from './names.ts';
import { collapse, dropText, plainText, rawText, splitLines } from './text.ts';

type LabelStyle = 'heading' | 'bold' | 'plain' | 'summary' | 'item' | 'column';

export type Label = {
  style: LabelStyle;
  /** Heading level; 0 for the other styles. */
  level: number;
  /** The name as the author wrote it, without the trailing colon. */
  text: string;
  name: Name | null;
  colon: boolean;
  /** What follows the label on its line. */
  rest: PhrasingContent[];
  /** The line as it stands, for when it turns out to be content. */
  line: PhrasingContent[];
};

const MAX_LABEL_CHARS = 160;
const MAX_PLAIN_WORDS = 6;
/** A name alone on its line has no words around it. */
const MAX_BARE_CHARS = 60;
const COLON_END = /\s*[:：]\s*$/;
const BOLD_TAG = /^<\/?(?:b|strong|u|ins|h[1-6]|font|span|center|p|div)(?:\s[^>]*)?>$/i;
const ORNAMENT = /^(?::[a-z0-9_+-]+:|[^\p{L}\p{N}])*$/u;

/** The name as shown to people: trimmed, without a trailing colon. */
export function labelText(text: string): string {
  return collapse(text).replace(COLON_END, '');
}

export function headingLabel(nodes: readonly PhrasingContent[], level: number): Label {
  const text = labelText(plainText(nodes));
  return { style: 'heading', level, text, name: classifyName(text), colon: true, rest: [], line: [...nodes] };
}

/** Read one line as a label, or null if it is plain content. `edge`: the line is the first or last of its paragraph. */
export function lineLabel(line: readonly PhrasingContent[], edge: boolean): Label | null {
  const raw = rawText(line);
  return pseudoHeading(line, raw) ?? boldLine(line, raw) ?? boldPrefix(line) ?? plainLine(line, raw, edge);
}

/** GitHub renders "###Name" as text; a reader takes it for a heading. */
function pseudoHeading(line: readonly PhrasingContent[], raw: string): Label | null {
  const found = /^\s*(#{1,6})(?=[^\s#\d])/.exec(raw);
  if (!found?.[1] || raw.length > MAX_LABEL_CHARS) return null;
  return headingLabel(
    [{ type: 'text', value: raw.replace(/^\s*#+|#+\s*$/g, '') }, ...line.slice(line.length)],
    found[1].length,
  );
}

function boldLine(line: readonly PhrasingContent[], raw: string): Label | null {
  if (raw.length > MAX_LABEL_CHARS) return null;
  const solid = line.filter(
    (node) => !(node.type === 'text' && ORNAMENT.test(node.value)) && !isComment(node),
  );
  if (solid.length === 0) return null;
  const tagged = solid.length > 2 && isBoldTag(solid[0]) && isBoldTag(solid.at(-1));
  const text = labelText(raw);
  if (!text || !(tagged || solid.every(isBold))) {
    return solid.every((node) => node.type === 'emphasis') ? emphasised(line, text) : null;
  }
  return {
    style: 'bold',
    level: 0,
    text,
    name: classifyName(text),
    colon: COLON_END.test(raw),
    rest: [],
    line: [...line],
  };
}

/** An italic line is a label only if its name opens a section. */
function emphasised(line: readonly PhrasingContent[], text: string): Label | null {
  const name = classifyName(text);
  if (!name || name.extra > 0 || (name.kind !== 'acceptance' && name.kind !== 'done')) return null;
  return { style: 'bold', level: 0, text, name, colon: true, rest: [], line: [...line] };
}

function isBold(node: PhrasingContent): boolean {
  if (node.type === 'strong') return true;
  return (
    (node.type === 'emphasis' || node.type === 'link') &&
    node.children.length > 0 &&
    node.children.every(isBold)
  );
}

function isBoldTag(node: PhrasingContent | undefined): boolean {
  return node?.type === 'html' && BOLD_TAG.test(node.value);
}

function isComment(node: PhrasingContent): boolean {
  return node.type === 'html' && node.value.startsWith('<!--');
}

/** "**Name**: rest", "**Name:** rest", "**Acceptance criteria** - rest". */
function boldPrefix(line: readonly PhrasingContent[]): Label | null {
  const at = line.findIndex((node) => !(node.type === 'text' && ORNAMENT.test(node.value)));
  const bold = line[at];
  if (!bold || !isBold(bold)) return null;
  const after = line.slice(at + 1);
  const boldText = rawText([bold]);
  if (boldText.length > MAX_LABEL_CHARS) return null;
  const afterText = rawText(after);
  const separator = COLON_END.test(boldText) ? /^\s*/ : /^\s*[:：]\s*/;
  const dash = /^\s+[-–—]\s+/.exec(afterText);
  const name = classifyName(labelText(boldText));
  const cut =
    separator.exec(afterText) ?? (name?.kind === 'acceptance' || name?.kind === 'done' ? dash : null);
  if (!cut) return null;
  const rest = dropText(after, cut[0].length);
  const text = labelText(rawText(line.slice(0, at + 1)));
  return { style: 'bold', level: 0, text, name, colon: true, rest, line: [...line] };
}

/** "Name:", "Name: rest" or a known name alone on its line. */
function plainLine(line: readonly PhrasingContent[], raw: string, edge: boolean): Label | null {
  const base = { style: 'plain' as const, level: 0, line: [...line] };
  const colon = raw.search(/[:：](?:\s|$)|：/);
  if (colon >= 0 && colon <= MAX_LABEL_CHARS) {
    const text = labelText(raw.slice(0, colon));
    const tail = raw.slice(colon + 1);
    const name = classifyName(text);
    const rest = dropText(line, colon + 1 + (/^\s*/.exec(tail)?.[0].length ?? 0));
    if (!tail.trim()) {
      const short =
        text.split(/\s+/).length <= MAX_PLAIN_WORDS && !authorLabel(text) && !isNumberedTitle(text);
      return name || short ? { ...base, text, name, colon: true, rest: [] } : null;
    }
    return name && name.extra === 0 ? { ...base, text, name, colon: true, rest } : null;
  }
  if (!edge || raw.length > MAX_BARE_CHARS) return null;
  const text = labelText(raw);
  const name = /[.!?;,]$/.test(text) ? null : classifyName(text);
  return name && name.extra === 0 ? { ...base, text, name, colon: false, rest: [] } : null;
}

/** "… upload. Acceptance: a restore drill succeeds." Only exact names, only after a sentence end. */
export function inlineLabel(nodes: readonly PhrasingContent[]): Label | null {
  const raw = rawText(nodes);
  const pattern = /(?:^|[.!?;)\]。！？]\s+|[\r\n]\s*)([^.!?:;：\r\n]{2,60})[:：]\s+(?=\S)/gu;
  for (const found of raw.matchAll(pattern)) {
    const text = labelText(found[1] ?? '');
    const name = classifyName(text);
    if (!name || name.extra > 0 || (name.kind !== 'acceptance' && name.kind !== 'done')) continue;
    const rest = dropText(nodes, found.index + found[0].length);
    return { style: 'plain', level: 0, text, name, colon: true, rest, line: [...nodes] };
  }
  return null;
}

const MAX_EXTRA_WORDS = { heading: 8, summary: 8, bold: 4, plain: 4, item: 4, column: 0 } as const;

/** Whether the label opens an acceptance section (tier 1) or a definition of done (tier 2). */
export function opensTier(label: Label): 1 | 2 | null {
  const { name } = label;
  if (name?.kind !== 'acceptance' && name?.kind !== 'done') return null;
  const allowed =
    label.rest.length > 0
      ? label.style === 'bold'
        ? 3
        : 0
      : label.colon || label.style !== 'plain'
        ? MAX_EXTRA_WORDS[label.style]
        : 0;
  if (name.extra > allowed || (label.style !== 'heading' && name.extra > 0 && /[.!]$/.test(label.text)))
    return null;
  return name.kind === 'acceptance' ? 1 : 2;
}

/** The label that a list item's first line is, if it is one. */
export function itemLabel(item: ListItem): Label | null {
  const first = item.children[0];
  if (first?.type === 'heading')
    return {
      ...labelOfParagraph({ type: 'paragraph', children: [{ type: 'strong', children: first.children }] }),
    } as Label;
  return first?.type === 'paragraph' ? labelOfParagraph(first) : null;
}

function labelOfParagraph(paragraph: Paragraph): Label | null {
  const lines = splitLines(paragraph.children);
  const line = lines[0];
  return line && lines.length === 1 ? lineLabel(line, true) : null;
}
