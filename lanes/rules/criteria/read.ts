/** From an issue body to the criteria in it. */
import type { Nodes, Root } from 'mdast';
import { readSection } from './content.ts';
import { outline } from './outline.ts';
import { parseBody } from './parse.ts';
import type { Content } from './parts.ts';
import { findSections, type Section } from './sections.ts';
import { plainText } from './text.ts';
import type { CriteriaReading, ReadCriterion } from './types.ts';

/**
 * Read the criteria of an issue body; a null body has none. The body must be within bounds (`checkBounds`):
 * the parser is superlinear on hostile input.
 */
export function readCriteria(body: string | null): CriteriaReading {
  if (!body?.trim()) return { criteria: [], section: null, fallbackTasklist: [] };
  const root = parseBody(body);
  const sections = findSections(outline(root.children));
  const first = sections.filter((section) => section.tier === 1);
  const second = sections.filter((section) => section.tier === 2);
  const chosen = first.length > 0 ? first : second;
  if (chosen.length === 0) return { criteria: [], section: null, fallbackTasklist: taskTexts(root) };
  const read = chosen.map((section) => ({ section, content: readSection(section, body) }));
  const named = read.find(({ content }) => content.criteria.length > 0) ?? read[0];
  const secondary = first.length === 0 ? [] : second.flatMap((section) => secondaryOf(section, body));
  const all = (key: 'placeholders' | 'context' | 'external') => read.flatMap(({ content }) => content[key]);
  const [placeholders, context, external] = [all('placeholders'), all('context'), all('external')];
  return {
    criteria: read.flatMap(({ section, content }) => withParents(section, content, chosen.length > 1)),
    section: named?.section.title ?? null,
    ...(placeholders.length > 0 && { placeholders }),
    ...(secondary.length > 0 && { secondary }),
    ...(context.length > 0 && { context }),
    ...(external.length > 0 && { external }),
  };
}

/** Where several sections count, the heading around each tells them apart. */
function withParents(section: Section, content: Content, several: boolean): ReadCriterion[] {
  const { parent } = section;
  if (!several || parent === null) return content.criteria;
  return content.criteria.map((criterion) => ({ ...criterion, group: criterion.group ?? parent }));
}

function secondaryOf(section: Section, body: string) {
  const items = readSection(section, body).criteria.map((criterion) => criterion.text);
  return items.length > 0 ? [{ section: section.title, items }] : [];
}

/** All task items of a body without a section, to propose to a person. */
function taskTexts(root: Root): string[] {
  const texts: string[] = [];
  const visit = (node: Nodes) => {
    if (node.type === 'listItem' && typeof node.checked === 'boolean') {
      const first = node.children[0];
      const text = first?.type === 'paragraph' ? plainText(first.children) : '';
      if (text) texts.push(text);
    }
    if ('children' in node) for (const child of node.children) visit(child);
  };
  visit(root);
  return texts;
}
