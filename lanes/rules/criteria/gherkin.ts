/** Given/When/Then: steps in lists, lines and fences become one criterion per scenario. */
import {
  BACKGROUND_WORDS,
  EXAMPLES_WORDS,
  OTHER_WORDS,
  SCENARIO_WORDS,
  STEP_WORDS,
  type StepKind,
} from './gherkin-words.ts';
import { collapse, trimEnd } from './text.ts';

export type Scenario = { name: string | null; steps: string[] };
export type Feature = { scenarios: Scenario[]; background: string[] };

const LEADING_MARKS = /^[\s*_\p{Cf}]+/u;
const HAN_KANA_HANGUL = /[\p{Script=Han}\p{Script=Kana}\p{Script=Hira}\p{Script=Hang}]/u;

const steps = new Map(STEP_WORDS.map(([kind, words]) => [kind, startPattern(words)] as const));
const scenarioLine = titlePattern(SCENARIO_WORDS);
const backgroundLine = titlePattern(BACKGROUND_WORDS);
const examplesLine = titlePattern(EXAMPLES_WORDS);
const otherLine = titlePattern(OTHER_WORDS);
const laterThen = new RegExp(
  `[\\s,;]${startPattern(STEP_WORDS.flatMap(([kind, words]) => (kind === 'then' ? words.filter((word) => word.length > 2) : []))).source.slice(1)}`,
  'iu',
);

function alternatives(words: readonly string[]): string {
  return [...words]
    .sort((a, b) => b.length - a.length)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('|');
}

/** Spaced scripts need a word end after the keyword; the others run on. */
function startPattern(words: readonly string[]): RegExp {
  const unspaced = words.filter((word) => HAN_KANA_HANGUL.test(word));
  const spaced = words.filter((word) => !HAN_KANA_HANGUL.test(word));
  const tail = `(?:${alternatives(spaced)})(?=[\\s,:;…*_'’\\[({<]|$)`;
  return new RegExp(unspaced.length > 0 ? `^(?:${tail}|(?:${alternatives(unspaced)}))` : `^${tail}`, 'iu');
}

function titlePattern(words: readonly string[]): RegExp {
  return new RegExp(`^(?:${alternatives(words)})(?:\\s+#?\\d+)?\\s*[:：]\\s*`, 'iu');
}

/** Which kind of step a text starts with, if any. */
export function stepKind(text: string): StepKind | null {
  const line = text.replace(LEADING_MARKS, '');
  for (const [kind, pattern] of steps) if (pattern.test(line)) return kind;
  return null;
}

/** A step without its keyword. */
export function withoutKeyword(text: string): string {
  const line = text.replace(LEADING_MARKS, '');
  for (const pattern of steps.values())
    if (pattern.test(line)) return line.replace(pattern, '').replace(/^[\s,:;]+/, '');
  return line;
}

/** One text that holds a whole scenario: it starts with Given or When and has a Then further on. */
export function isWholeScenario(text: string): boolean {
  const kind = stepKind(text);
  return (kind === 'given' || kind === 'when') && laterThen.test(text.replace(LEADING_MARKS, ''));
}

/** The name after "Scenario:"; null for any other line. "Scenario 2: …" keeps its number, which people refer to. */
export function scenarioName(line: string): string | null {
  const text = line.replace(LEADING_MARKS, '');
  const found = scenarioLine.exec(text);
  if (!found) return null;
  return trimEnd(collapse(/\d/.test(found[0]) ? text : text.slice(found[0].length)), /^[*_]$/);
}

/** Whether texts are the steps of scenarios: each starts with a keyword, none is a scenario of its own, and a Then is there. */
export function areSteps(texts: readonly string[]): boolean {
  const kinds = texts.map(stepKind);
  return (
    texts.length > 1 &&
    kinds.every((kind, index) => kind !== null || scenarioName(texts[index] ?? '') !== null) &&
    kinds[0] !== 'and' &&
    kinds.includes('then') &&
    (kinds.includes('given') || kinds.includes('when')) &&
    !texts.some(isWholeScenario)
  );
}

/** Split steps into scenarios: a new Given after a Then starts the next one, and so does a When if none had a Given. */
export function splitSteps(texts: readonly string[]): Scenario[] {
  const scenarios: Scenario[] = [];
  let current: Scenario | null = null;
  let seen = new Set<StepKind>();
  for (const text of texts) {
    const name = scenarioName(text);
    const kind = name === null ? stepKind(text) : null;
    const next =
      kind === 'given' ? seen.has('then') : kind === 'when' && seen.has('then') && !seen.has('given');
    if (!current || name !== null || next) {
      current = { name, steps: [] };
      scenarios.push(current);
      seen = new Set();
    }
    if (kind) seen.add(kind);
    if (name === null) current.steps.push(text);
  }
  return scenarios;
}

/** Read the text of a feature file or of a paragraph in its form; null if it has no steps. */
export function readFeature(source: string): Feature | null {
  const feature: Feature = { scenarios: [], background: [] };
  let target: 'none' | 'background' | 'scenario' | 'skip' = 'none';
  let loose: string[] = [];
  let docString = false;
  for (const rawLine of source.split(/\r\n|\r|\n/)) {
    const line = collapse(rawLine);
    if (/^("""|```)/.test(line)) docString = !docString;
    if (!line || docString || /^(?:#|@\w|\||"""|```)/.test(line)) continue;
    const name = scenarioName(line);
    if (name !== null) {
      feature.scenarios.push({ name, steps: [] });
      target = 'scenario';
    } else if (backgroundLine.test(line)) target = 'background';
    else if (examplesLine.test(line) || otherLine.test(line)) target = 'skip';
    else if (target === 'background') feature.background.push(line);
    else if (target === 'scenario') feature.scenarios.at(-1)?.steps.push(line);
    else if (target === 'none' || stepKind(line)) loose.push(line);
  }
  if (feature.scenarios.length > 0) return feature;
  const first = loose.findIndex((line) => stepKind(line) !== null && stepKind(line) !== 'and');
  if (first < 0 || first > 1) return null;
  if (!loose.some((line) => stepKind(line) === 'then') && !isWholeScenario(loose.join(' '))) return null;
  const title = loose.slice(0, first);
  feature.scenarios = splitSteps(loose.slice(first).reduce(joinContinuations, []));
  const head = feature.scenarios[0];
  if (head && title.length > 0) head.steps = [...title, ...head.steps];
  loose = [];
  return feature;
}

/** A line without a keyword goes on with the step before it. */
function joinContinuations(lines: string[], line: string): string[] {
  const last = lines.at(-1);
  if (last !== undefined && stepKind(line) === null) return [...lines.slice(0, -1), `${last} ${line}`];
  lines.push(line);
  return lines;
}
