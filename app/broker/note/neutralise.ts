/**
 * Agent text made harmless on GitHub, still Markdown. It may come from a hostile agent, so nothing here depends on where
 * Markdown would see code: every rule applies everywhere. Most rules put a zero-width space after the character that
 * has the power. Each step is linear, and the whole is idempotent.
 */
import { breaker, stripControlsButBreakers } from './controls.ts';
import { closeFences } from './fences.ts';

/**
 * Takes away: mentions, closing keywords' references, HTML comments and all raw HTML, images (they become links),
 * entity-encoded forms of these, definitions of links and footnotes (they reach outside their paragraph), look-alike
 * note markers, invisible characters. Closes an unclosed code fence. Idempotent; linear in the text's length.
 */
export function neutralise(text: string): string {
  return closeFences(disarm(text));
}

/** `neutralise` on a single line: white space becomes single spaces, and there is no fence to close. */
export function neutraliseLine(text: string): string {
  return disarm(text.replace(/\s+/g, ' ')).trim();
}

function disarm(text: string): string {
  const safe = breakReferences(breakCharacters(linkImages(dropComments(stripControlsButBreakers(text)))));
  return safe.replace(/lanekeeper:note/gi, 'lanekeeper note');
}

/** HTML comments go. What is left of an unclosed one shows as text, since its `<` is broken afterwards. */
function dropComments(text: string): string {
  const end = /--!?>/g;
  let kept = '';
  let from = 0;
  for (;;) {
    const open = text.indexOf('<!--', from);
    if (open === -1) break;
    // From the third character on: `<!-->` is a whole comment in HTML.
    end.lastIndex = open + 2;
    if (end.exec(text) === null) break;
    kept += text.slice(from, open);
    from = end.lastIndex;
  }
  return kept + text.slice(from);
}

/** `<https://…>` loses its brackets, `![alt](url)` its `!`: an image would be fetched, a link only when followed. */
function linkImages(text: string): string {
  return text.replace(/<(https?:\/\/[^\s<>]{1,2000})>/gi, '$1').replace(/(?<!!)!+\[/g, '[');
}

/**
 * `@` before anything but a space: a mention may go on in an entity. `<` where a tag, comment or declaration could
 * start. `&` where an entity is whole. `]` before `:`, a definition.
 */
function breakCharacters(text: string): string {
  return text
    .replace(/@(?=[^\s\u200B])/g, `@${breaker}`)
    .replace(/<(?=[A-Za-z/!?])/g, `<${breaker}`)
    .replace(/&(?=(?:#\d{1,32}|#[xX][0-9a-fA-F]{1,32}|[A-Za-z][A-Za-z0-9]{0,40});)/g, `&${breaker}`)
    .replace(/\](?=:)/g, `]${breaker}`);
}

/**
 * GitHub's keywords, in any case, then what may stand between (a colon, spaces, marks, the text of a link), then an
 * issue: `#1`, `owner/repo#1`, `GH-1` or an address. The number is cut off from its sign.
 * https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
 */
const closing = new RegExp(
  [
    '(?<![A-Za-z0-9])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?![A-Za-z0-9])',
    '(?:[^\\p{L}\\p{N}#]|#(?![\\d\\u200B])){0,40}?(?:\\[[^\\[\\]\\n]{0,200}\\]\\()?',
    '(?:(?:[\\w.-]{1,100}\\/[\\w.-]{1,100})?#|GH-|https?:\\/\\/[^\\s/]{1,200}(?:\\/[^\\s/]{1,100}){2,4}?\\/(?:issues|pull|pulls|discussions)\\/)',
    '(?=\\d)',
  ].join(''),
  'giu',
);

function breakReferences(text: string): string {
  return text.replace(closing, (match) => match + breaker);
}
