/** Scenarios in fences, paragraphs and below titles. */
import type { Paragraph, RootContent } from 'mdast';
import {
  areSteps,
  isWholeScenario,
  readFeature,
  type Scenario,
  scenarioName,
  splitSteps,
  stepKind,
} from './gherkin.ts';
import { readParagraph } from './lines.ts';
import { isScenarioTitle } from './marks.ts';
import { add, type Content, type Part, plainCriterion } from './parts.ts';
import { isPlaceholder } from './placeholders.ts';
import { collapse, rawText } from './text.ts';

export const FENCE_LANGUAGES =
  /^(?:markdown|md|gfm|text|txt|plain|plaintext|gherkin|feature|cucumber|none|)$/i;

/** Named scenarios give their name with the steps as detail, the others their steps in one text. */
export function addScenarios(scenarios: readonly Scenario[], title: string | null, content: Content): void {
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

/** The lines of a fence or a paragraph. */
export function textsOf(node: RootContent): string[] {
  if (node.type === 'code') return node.value.split(/\r\n|\r|\n/);
  return node.type === 'paragraph' ? rawText([node]).split(/\r\n|\r|\n/) : [];
}

/** Scenarios in fences and in paragraphs. */
export function readGherkin(parts: readonly Part[], content: Content): boolean {
  const found = parts.map((part) => ({ part, ...gherkinOf(part) }));
  if (found.every(({ scenarios }) => scenarios.length === 0)) return false;
  for (const { part, scenarios, background, prose } of found) {
    content.context.push(...background);
    addScenarios(scenarios, part.title, content);
    // Prose beside scenarios introduces them; a part without any is read as prose.
    for (const node of scenarios.length > 0 ? [] : prose)
      for (const criterion of readParagraph(node)) add(content, criterion, part.title);
  }
  return true;
}

type Gherkin = { scenarios: Scenario[]; background: string[]; prose: Paragraph[] };
/** A paragraph of one line that may be a step or a scenario's name. */
type Line = { text: string; node: Paragraph | null };

function gherkinOf(part: Part): Gherkin {
  const result: Gherkin = { scenarios: [], background: [], prose: [] };
  let run: Line[] = [];
  for (const node of part.nodes) {
    if (node.type !== 'paragraph' && (node.type !== 'code' || !FENCE_LANGUAGES.test(node.lang ?? '')))
      continue;
    const lines = textsOf(node).map(collapse).filter(Boolean);
    const [text = ''] = lines;
    const feature = lines.length > 1 || node.type === 'code' ? readFeature(lines.join('\n')) : null;
    if (feature) {
      nameFirst(feature.scenarios, run);
      endRun(run, result);
      run = [];
      result.scenarios.push(...feature.scenarios);
      result.background.push(...feature.background);
    } else if (lines.length === 1 && (stepKind(text) !== null || nameOf(text) !== null)) {
      run.push({ text, node: node.type === 'paragraph' ? node : null });
    } else if (node.type === 'paragraph') result.prose.push(node);
  }
  endRun(run, result);
  return result;
}

function nameOf(text: string): string | null {
  return scenarioName(text) ?? (isScenarioTitle(text) && text.length <= 120 ? text : null);
}

/** The name may stand in a paragraph of its own above the steps. */
function nameFirst(scenarios: readonly Scenario[], run: Line[]): void {
  const [first] = scenarios;
  const name = nameOf(run.at(-1)?.text ?? '');
  if (!first || first.name !== null || name === null) return;
  first.name = name;
  run.pop();
}

/** Lines that together are steps make scenarios; any others are prose. */
function endRun(run: readonly Line[], result: Gherkin): void {
  const texts = run.map(({ text }) => text);
  if (areSteps(texts)) result.scenarios.push(...splitSteps(texts));
  else if (run.some(({ text }) => isWholeScenario(text))) {
    result.scenarios.push(...texts.map((text): Scenario => ({ name: null, steps: [text] })));
  } else result.prose.push(...run.flatMap(({ node }) => (node ? [node] : [])));
}
