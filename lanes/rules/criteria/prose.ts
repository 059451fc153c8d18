/** Sections of nothing but prose. */
import type { Paragraph } from 'mdast';
import { readParagraph } from './lines.ts';
import { externalLinks } from './links.ts';
import { add, type Content, type Part } from './parts.ts';
import { isPlaceholder } from './placeholders.ts';
import { plainText } from './text.ts';

/** Paragraphs: lead-ins before others are no criteria, and after a rule stands a footer. */
export function readParagraphs(parts: readonly Part[], content: Content): void {
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
