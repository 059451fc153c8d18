/** Paragraphs as criteria: one each, or one per line where the author wrote a list by hand. */
import type { Paragraph, PhrasingContent } from 'mdast';
import { criterionOf } from './items.ts';
import { commentOf, isStruck } from './lead.ts';
import { authorLabel, brokenBox } from './marks.ts';
import { collapse, plainText, rawText, splitLines } from './text.ts';
import type { ReadCriterion } from './types.ts';

const DASH = /^[-*+](?=[^\-*+\d])/;
const BULLET =
  /^(?:[•‣◦▪▫●○∙·・･◎⁃➢➤►▸▶→➔➡⇒»※◆◇★☆✓✔–—―]|:(?:white_check_mark|heavy_check_mark|x|ballot_box_with_check|black_square_button|white_large_square):)\ufe0f?\s*\S/u;
const STATUS = /^(?:✅|❌|⏳|⌛|⬜|🔲|🔳|☑|✖|❎|🟢|🟡|🔴|🟠|🟩|🟥|🟨|🚧|⚠|⭕|🔄|🚫|⛔|👉|🔹|🔸|▶)/u;
/** "(1)", "1)", "1/", "1 -", "1、", "①", "a)"; a plain "1." is a list to the parser already. */
const NUMBER =
  /^(?:\(\d{1,3}\)|\d{1,3}[)/、.．]|\d{1,3}\s?[-–](?=\s|\p{L})|[①-⑳]|\d\ufe0f?\u20e3|[一二三四五六七八九十]{1,3}、|\(?[a-z]\)|[a-z]\.(?=\s))\s*(?=\S)/u;
const LATER_NUMBER = /\s\(?[2b][).]\s/;
const SENTENCE_END = /[.;!。；！]["')\]”’]?$/u;

/** Whether a paragraph is a hand-written list whose items start with a broken box or a bullet character. */
export function isHandList(paragraph: Paragraph): boolean {
  return startsItem(lineTexts(paragraph)) !== null;
}

function lineTexts(paragraph: Paragraph): string[] {
  return splitLines(paragraph.children).map((line) => collapse(rawText(line)));
}

/** How the lines of a paragraph are told apart; null if it is one text. */
function startsItem(texts: readonly string[]): ((text: string) => boolean) | null {
  const isBox = (text: string) => brokenBox(text) !== null;
  if (texts.some(isBox)) return (text) => isBox(text) || DASH.test(text);
  if (texts.length > 0 && texts.every((text) => DASH.test(text) && text[0] === texts[0]?.[0]))
    return () => true;
  if (texts.some((text) => BULLET.test(text))) return (text) => BULLET.test(text);
  if (texts.length > 1 && texts.every((text) => STATUS.test(text))) return () => true;
  return null;
}

/** Read one paragraph. */
export function readParagraph(paragraph: Paragraph): ReadCriterion[] {
  const lines = splitLines(paragraph.children);
  const texts = lines.map((line) => collapse(rawText(line)));
  const marked = startsItem(texts);
  if (marked) return gather(lines, marked);
  if (texts.filter((text) => NUMBER.test(text)).length > 1) return gather(lines, (text) => NUMBER.test(text));
  if (texts.length > 1 && texts.filter((text) => authorLabel(text)).length === texts.length)
    return gather(lines, () => true);
  if (areSentences(texts)) return gather(lines, () => true);
  return [withMarks(plainText(paragraph.children), paragraph.children)];
}

/** GitHub shows the line breaks of an issue body: lines that each read as a whole are one criterion each. */
function areSentences(texts: readonly string[]): boolean {
  if (texts.length < 2 || texts.some((text) => /^[\p{Ll}]/u.test(text) || /[,:–—-]$/u.test(text)))
    return false;
  if (texts.every((text) => SENTENCE_END.test(text))) return true;
  return texts.every(
    (text) => text.length <= 90 && !SENTENCE_END.test(text) && /^["“'„«(]?[\p{Lu}\p{Lo}\p{N}]/u.test(text),
  );
}

/** Lines before the first start are a lead-in; lines between starts go on with the item before. */
function gather(lines: readonly PhrasingContent[][], starts: (text: string) => boolean): ReadCriterion[] {
  const items: PhrasingContent[][] = [];
  for (const line of lines) {
    if (starts(collapse(rawText(line)))) items.push([...line]);
    else items.at(-1)?.push({ type: 'text', value: ' ' }, ...line);
  }
  return items.map((line) => withMarks(collapse(rawText(line)), line));
}

function withMarks(source: string, nodes: readonly PhrasingContent[]): ReadCriterion {
  const dash = brokenBox(source) ? null : DASH.exec(source);
  // Numbers that go on inside the text are the author's sentence.
  const number = dash || LATER_NUMBER.test(source) ? null : NUMBER.exec(source);
  const cut = dash?.[0] ?? number?.[0] ?? '';
  const criterion = criterionOf(source.slice(cut.length).trim(), {
    checkbox: false,
    checked: false,
    depth: 0,
    bullets: true,
  });
  if (cut) criterion.malformed = cut.trim();
  if (isStruck(nodes)) criterion.struck = true;
  const marker = commentOf(nodes);
  if (marker) criterion.marker = marker;
  return criterion;
}
