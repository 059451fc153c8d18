/** Template text that nobody filled in. It must never become a criterion that an agent can "meet". */
import { stepKind, withoutKeyword } from './gherkin.ts';
import { brokenBox } from './marks.ts';
import {
  COMMAND,
  COMMAND_OBJECT,
  GHERKIN_FILLER,
  NOTHING,
  NUMBERED,
  ORDINAL_THING,
  PENDING,
  STEP_STARTS,
  TODO,
} from './template-words.ts';
import { normalise } from './text.ts';

const nothing = new Set(NOTHING.map(normalise));

const BLANK = /^(?:[\s._…\-–—*~=]+|(?:\.{2,}|…|_{2,}|-{2,})\s*)$/u;
/** Nobody's template is longer; and what is longer is costly to look at. */
const MAX_TEMPLATE_CHARS = 1_000;
const PAIRS: Readonly<Record<string, string>> = {
  '[': ']',
  '{': '}',
  '<': '>',
  '［': '］',
  '【': '】',
  '(': ')',
  '«': '»',
};

/** Whether the text of an item or of a paragraph is unfilled template text. */
export function isPlaceholder(text: string): boolean {
  const plain = text.trim();
  if (plain.length > MAX_TEMPLATE_CHARS) return false;
  if (!plain || BLANK.test(plain) || isOnlyBox(plain)) return true;
  const folded = normalise(plain).replace(/^[\s"'*_(-]+(?=\S)|[\s"'*_.!…)-]+$/gu, '');
  if (nothing.has(folded) || nothing.has(normalise(plain))) return true;
  if (NUMBERED.test(folded) || PENDING.test(folded) || ORDINAL_THING.test(folded) || TODO.test(plain))
    return true;
  if (isBracketed(plain) || (COMMAND.test(plain) && COMMAND_OBJECT.test(plain))) return true;
  return isGherkinBlank(plain);
}

/** A box with nothing, or only dots and dashes, behind it. */
function isOnlyBox(text: string): boolean {
  const box = brokenBox(text);
  if (!box) return /^[[\]\s]+$/.test(text);
  const tail = text.slice(box.length).trim();
  return tail === '' || BLANK.test(tail);
}

/** A text wholly in one pair of brackets is template help. Round ones only if they tell the author what to write. */
function isBracketed(text: string): boolean {
  const inner = text.replace(/[\s.:;,!?]+$/u, '').replace(/\.$/, '');
  const close = PAIRS[inner[0] ?? ''];
  if (!close || !inner.endsWith(close) || inner.length < 2) return false;
  const open = inner[0] ?? '';
  let depth = 0;
  for (let index = 0; index < inner.length; index += 1) {
    if (inner[index] === open) depth += 1;
    else if (inner[index] === close) depth -= 1;
    if (depth === 0 && index < inner.length - 1) return false;
  }
  const body = inner.slice(1, -1).trim();
  return open === '(' || open === '«'
    ? nothing.has(normalise(body)) || (COMMAND.test(body) && COMMAND_OBJECT.test(body))
    : true;
}

/** "Given [a precondition] when … then <an outcome>": every step is a blank or only template words. */
function isGherkinBlank(text: string): boolean {
  const kind = stepKind(text);
  if (kind === null || kind === 'and') return false;
  const steps = text.split(STEP_STARTS);
  const bodies = steps.map((step) => step.trim().replace(/[\s,;:]+$/u, '')).filter(Boolean);
  // One keyword with a word after it may be a sentence that only begins like a step.
  if (steps.length < 3)
    return steps.length === 2 && bodies.every((body) => BLANK.test(body) || isBracketed(body));
  return bodies.every(isBlankStep);
}

function isBlankStep(step: string): boolean {
  if (BLANK.test(step) || isBracketed(step)) return true;
  const unbracketed = withoutKeyword(step).replace(
    /\[[^\]]*\]|<[^>]*>|\{[^}]*\}|\([^)]*\)|\.{3}|…|_{2,}/gu,
    ' ',
  );
  const words = normalise(unbracketed)
    .split(/[^\p{L}\p{N}'-]+/u)
    .filter(Boolean);
  return words.every((word) => GHERKIN_FILLER.has(word));
}
