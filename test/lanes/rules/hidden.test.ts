import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stripHidden } from '../../../lanes/rules/hidden.ts';

describe('what a person does not see is cut out', () => {
  test.each([
    ['a comment', 'open <!-- obey --> the door', 'open  the door', ['html_comment']],
    ['a comment between words', 'open<!-- obey -->door', 'open door', ['html_comment']],
    ['a comment never closed', 'open <!-- obey\nand more', 'open ', ['html_comment']],
    ['a comment written with entities', 'open &lt;!-- obey --&gt; it', 'open  it', ['html_comment']],
    ['a comment with numeric entities', 'a &#60;!-- obey --&#x3E; b', 'a  b', ['html_comment']],
    ['entities do not end a plain comment', 'a <!-- x --&gt; obey --> b', 'a  b', ['html_comment']],
    [
      'a comment opened twice ends at the first close, as on a page',
      'a <!-- x <!-- y --> b --> c',
      'a  b --> c',
      ['html_comment'],
    ],
    [
      'a comment put together by a removal stays apart',
      'a <<!-- x -->!-- obey --> b',
      'a < !-- obey --> b',
      ['html_comment'],
    ],
    ['the shortest comment hides nothing after it', 'a <!--> b --> c', 'a  b --> c', ['html_comment']],
    ['a style selector behind a comment', '<!---->\ufe0fa', 'a', ['html_comment', 'zero_width']],
    ['tag characters', 'door\u{e0041}\u{e0042}', 'door', ['tag_characters']],
    ['a zero-width space', 'do\u200bor', 'door', ['zero_width']],
    [
      'a comment hidden by zero-width characters',
      'a <\u200b!-\u2060- obey --> b',
      'a  b',
      ['zero_width', 'html_comment'],
    ],
    ['direction overrides', 'a\u202edoor\u2066b\u2069', 'adoorb', ['bidi_control']],
    ['NUL', 'a\u0000b', 'ab', ['nul']],
    ['a lone surrogate', 'a\ud800b\udc00c', 'abc', ['lone_surrogate']],
    ['other controls', 'a\u001b[31mb', 'a[31mb', ['control']],
    ['a joiner between Latin letters', 'do\u200dor\u200cs', 'doors', ['zero_width']],
    ['a joiner whose neighbour is hidden too', 'م\u200d\u061ca', 'مa', ['zero_width', 'bidi_control']],
    ['a run of style selectors', 'a\ufe0f\ufe0e\ufe0f', 'a\ufe0f', ['zero_width']],
  ])('%s', (_, text, wanted, stripped) => {
    expect(stripHidden(text)).toEqual({ text: wanted, stripped });
  });
});

describe('what belongs to the writing stays', () => {
  test.each([
    ['a family of emoji', '👩‍👩‍👧 and 👍🏽'],
    ['an emoji with a selector before its joiner', '❤️‍🔥'],
    ['Persian', 'می‌خواهم'],
    ['Hindi', 'क्‍ष and क्‌ष'],
    ['tabs and both line ends', 'a\tb\r\nc\n'],
    ['an arrow', 'a --> b'],
    ['other HTML', '<b>door</b> & <br>'],
  ])('%s', (_, text) => {
    expect(stripHidden(text)).toEqual({ text, stripped: [] });
  });
});

const parts = fc.constantFrom(
  '<!--',
  '-->',
  '<',
  '!--',
  '--',
  '>',
  '&lt;',
  '&#60;',
  '&gt;',
  'a',
  ' ',
  '\u200b',
  '\u200c',
  '\u200d',
  '\ufe0f',
  '\u202e',
  '\u{e0041}',
  '\u0000',
  '\ud83d',
  '\udc69',
  '👩',
  '👧',
  'می',
  'क',
  '\u061c',
  '-',
  'lt;',
  '&',
);
const text = fc
  .array(fc.oneof(parts, fc.string({ unit: 'binary', maxLength: 4 })), { maxLength: 40 })
  .map((all) => all.join(''));

test('stripping twice changes nothing more', () => {
  fc.assert(
    fc.property(text, (source) => {
      const once = stripHidden(source);
      expect(stripHidden(once.text)).toEqual({ text: once.text, stripped: [] });
      expect(once.stripped.length > 0).toBe(once.text !== source);
      expect(once.text.length).toBeLessThanOrEqual(source.length);
    }),
    { numRuns: 2000 },
  );
});

test.each(['<!--', '<!-- -->', '<!---->a', '&lt;!--', '\u200d', '👩\u200d', 'a\ufe0f'])(
  'a megabyte of %j is stripped',
  (unit) => {
    const long = unit.repeat(Math.ceil(1_000_000 / unit.length));
    expect(stripHidden(long).text.length).toBeLessThan(long.length + 1);
  },
);
