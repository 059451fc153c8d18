/** Shortening text without breaking a character in two. */

const mark = ' …';
const startMark = '… ';

/** `text` with at most `maxChars` UTF-16 units; a cut text ends with ` …`. A surrogate pair is never split. */
export function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  if (maxChars <= mark.length) return '';
  let end = maxChars - mark.length;
  if (/[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end) + mark;
}

/** The end of `text` with at most `maxChars` UTF-16 units; a cut text begins with `… `. For output: its end says why. */
export function cutStart(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  if (maxChars <= startMark.length) return '';
  let start = text.length - (maxChars - startMark.length);
  if (/[\uDC00-\uDFFF]/.test(text.charAt(start))) start += 1;
  return startMark + text.slice(start);
}
