/** Sub-headings and bold lines that name one criterion each. */
import { readFeature, scenarioName } from './gherkin.ts';
import { authorLabel, isNumberedTitle } from './marks.ts';
import { add, type Content, type Part, plainCriterion } from './parts.ts';
import { isPlaceholder } from './placeholders.ts';
import { readParagraphs } from './prose.ts';
import { addScenarios, textsOf } from './scenarios.ts';
import { plainText } from './text.ts';

/** Labelled sub-headings without lists: each title is a criterion, what stands below is its detail. */
export function readTitles(parts: readonly Part[], content: Content): boolean {
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

export function readTitle(part: Part, content: Content): void {
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
