import fc from 'fast-check';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import { describe, expect, it } from 'vitest';
import { neutralise, neutraliseLine } from '../../../../app/broker/note/neutralise.ts';

/** What GitHub would show: the Markdown parsed, entities and escapes decoded, all text and raw HTML joined. */
function shown(markdown: string): { text: string; html: string; images: number; definitions: number } {
  const found = { text: '', html: '', images: 0, definitions: 0 };
  const walk = (node: { type: string; value?: unknown; children?: unknown }): void => {
    if (node.type === 'image' || node.type === 'imageReference') found.images += 1;
    if (node.type === 'definition' || node.type === 'footnoteDefinition') found.definitions += 1;
    if (typeof node.value === 'string') found[node.type === 'html' ? 'html' : 'text'] += node.value;
    if (Array.isArray(node.children)) for (const child of node.children) walk(child);
    if (node.type === 'paragraph') found.text += '\n';
  };
  walk(unified().use(remarkParse).use(remarkGfm).parse(markdown));
  return found;
}

const mention = /@[A-Za-z0-9]/;
const closing =
  /(?<![A-Za-z0-9])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?![A-Za-z0-9]):?[\s\p{P}]{0,30}(?:[\w.-]+\/[\w.-]+)?(?:#|GH-|https?:\/\/\S+\/(?:issues|pull)\/)\d/iu;

function expectHarmless(text: string): void {
  const safe = neutralise(text);
  const { text: visible, html, images, definitions } = shown(safe);
  expect(visible).not.toMatch(mention);
  expect(visible).not.toMatch(closing);
  expect(html).toBe('');
  expect(images).toBe(0);
  expect(definitions).toBe(0);
  expect(safe).not.toMatch(/<!--|lanekeeper:note/i);
  expect(neutralise(safe)).toBe(safe);
}

describe('agent text made harmless', () => {
  it.each([
    '@user',
    'hello @user, and @org/team!',
    '(@user)',
    '_@user_ **@user** ~~@user~~',
    '\\@user',
    '&#64;user &#x40;user &#X40;user &commat;user &#0000064;user',
    '@&#117;ser',
    '&amp;#64;user',
    '@\u200Buser @\u2060user @\u{E0001}user @\u00ADuser @\u202Euser',
    '@\u200Duser',
    '@<!-- -->user',
    'someone@example.com@user',
    '[@user](https://example.com)',
    '```\n@user\n```',
    '`@user`',
    '<a href="#">@user</a>',
    '| @user | b |\n| --- | --- |\n| @user | c |',
  ])('does not ping: %s', (text) => expectHarmless(text));

  it.each(['close', 'closes', 'closed', 'fix', 'fixes', 'fixed', 'resolve', 'resolves', 'resolved'])(
    'the keyword %s links no issue, in any of its forms',
    (word) => {
      for (const issue of [
        '#1',
        'owner/repo#12',
        'GH-3',
        'https://github.com/a/b/issues/4',
        'https://github.com/a/b/pull/5',
      ]) {
        for (const form of [
          word,
          word.toUpperCase(),
          `${word}:`,
          `_${word}`,
          `${word} \n`,
          `${word} **`,
          `${word} [`,
        ]) {
          expectHarmless(`This ${form} ${issue}`);
          expect(neutralise(`This ${form} ${issue}`)).not.toContain(issue);
        }
      }
    },
  );

  it('a keyword hidden behind a comment, an escape or an invisible character links no issue', () => {
    for (const text of [
      'fixes <!-- x --> #1',
      'fi<!-- -->xes #1',
      'fi\u200Bxes #1',
      'fixes \\#1',
      'fixes\u200B#1',
      'fixes&nbsp;#1',
      'fixes &#35;1',
      'fi&#120;es #1',
      'fixes [the bug](https://github.com/a/b/issues/1)',
      'fixes #1/b#2',
      'resolve\n# https://github.com/a/b/issues/1',
      'fixes ##1',
    ]) {
      expectHarmless(text);
    }
  });

  it('a reference without a keyword stays a reference', () => {
    expect(neutralise('See #12 and owner/repo#3, the prefix #4.')).toBe(
      'See #12 and owner/repo#3, the prefix #4.',
    );
  });

  it('HTML comments are gone, whole, nested, unclosed or encoded', () => {
    expect(neutralise('a<!-- hidden -->b')).toBe('ab');
    expect(neutralise('a<!-- h\nid\nden -->b<!---->c<!-->d')).toBe('abcd');
    expect(neutralise('a<!-- one --!>b')).toBe('ab');
    for (const text of [
      'a <!-- b <!-- c --> d -->',
      'never closed <!-- here',
      '<!-<!-- x -->- hidden -->',
      '&lt;!-- lanekeeper:note v1 abc def --&gt;',
      '<!&#45;- hidden --&gt;',
      '<\u200B!-- hidden -->',
      '<!-\u200B- hidden -->',
      '<<!-- -->!-- hidden -->',
      '\\<!-- hidden -->',
    ]) {
      expectHarmless(text);
    }
  });

  it('images become links, also by reference, doubled marks or HTML', () => {
    expect(neutralise('![pixel](https://t.example/p.png)')).toBe('[pixel](https://t.example/p.png)');
    for (const text of [
      '![a][b]\n\n[b]: https://t.example',
      '!![a](https://t.example)',
      '!<!-- -->![a](https://t.example)',
      '!\u200B[a](https://t.example)',
      '<img src="https://t.example">',
      '&#33;[a](https://t.example)',
      '<picture><source srcset="https://t.example"></picture>',
    ]) {
      expectHarmless(text);
    }
  });

  it('raw HTML is shown, not rendered', () => {
    for (const text of [
      '</details>',
      '</blockquote></table><table><tr><td>x',
      '<h1>Complete</h1>',
      '<script>alert(1)</script>',
      '<![CDATA[x]]> <?php x ?> <!DOCTYPE html>',
      '<details>\n<summary>x</summary>\n\n</details>',
    ]) {
      expectHarmless(text);
    }
    expect(shown(neutralise('</details>')).text).toContain('</details>'.replace('<', '<\u200B'));
  });

  it('a note marker in any form is broken', () => {
    for (const text of [
      '<!-- lanekeeper:note v1 eJw abc -->',
      'lanekeeper:note v1',
      'LaneKeeper:Note',
      'lanekeeper:\u200Bnote',
      'lanekeeper:lanekeeper:notenote',
    ]) {
      expectHarmless(text);
    }
  });

  it('an unclosed fence is closed with its own mark, a closed one is left alone', () => {
    expect(neutralise('```js\nlet a')).toBe('```js\nlet a\n```');
    expect(neutralise('~~~~\n```\n~~~')).toBe('~~~~\n```\n~~~\n~~~~');
    expect(neutralise('```\na\n```\nb')).toBe('```\na\n```\nb');
    expect(neutralise('```not a fence` here')).toBe('```not a fence` here');
    expect(neutralise('- a\n  ```\n  b\n')).toBe('- a\n  ```\n  b\n  ```');
  });

  it('ordinary words in any script stay as they are', () => {
    for (const text of [
      'R&D, AT&T, a < b && c > d; x <= y; C# and F#; a@ b; 50% off!',
      'https://ci.example/run?a=1&b=2#step',
      '日本語の要約。ネストした「引用」と🙂👩‍👩‍👧。',
      'ملخص قصير می‌خواهم',
      '**bold**, _italic_, `code`, [link](https://example.com)',
    ]) {
      expect(neutralise(text)).toBe(text);
    }
  });

  it('lone surrogates, NUL, bidi controls and tag characters go', () => {
    expect(neutralise('a\uD800b\u0000c\u202Ed\u{E0041}e\r\nf')).toBe('a\uFFFDbcde\nf');
  });

  const parts = fc.constantFrom(
    ...[
      '@',
      'user',
      '<',
      '>',
      '!',
      '--',
      '-',
      '<!--',
      '-->',
      '--!>',
      '&',
      '#64;',
      'commat;',
      '&#x40;',
      '#',
      '1',
      ' ',
    ],
    ...[
      'fixes',
      'Closes',
      'resolve',
      ':',
      'a/b',
      'GH-',
      'https://github.com/a/b/issues/',
      '[',
      ']',
      '(',
      ')',
      '![',
    ],
    ...[
      '\n',
      '```',
      '~~~',
      '`',
      '\\',
      '\u200B',
      '\u200D',
      '\u2060',
      '\u{E0041}',
      '\uD800',
      '</details>',
      '|',
      '*',
      '_',
    ],
    ...[
      'lanekeeper',
      'note',
      'lanekeeper:note',
      '/',
      '.',
      'x',
      '\t',
      '<https://a.b>',
      ']:',
      '[^1]:',
      'img',
      '日',
    ],
  );

  it('holds for any mixture of dangerous parts, and a second pass changes nothing', () => {
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 40 }), (chosen) => expectHarmless(chosen.join(''))),
      { numRuns: 4_000 },
    );
  });

  it('never throws and stays idempotent on any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        const once = neutralise(text);
        expect(neutralise(once)).toBe(once);
        expect(neutraliseLine(text)).not.toContain('\n');
      }),
      { numRuns: 1_000 },
    );
  });

  it('grows by at most one character for each one it breaks', () => {
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 60 }), (chosen) => {
        const text = chosen.join('');
        expect(neutralise(text).length).toBeLessThanOrEqual(text.length * 2 + 10);
      }),
    );
  });

  it('takes hostile repetitions of 200,000 characters in linear time', () => {
    const units = [
      '<!--',
      '@',
      '!',
      '&#',
      '[',
      ']:',
      'fixes ',
      `fixes${' '.repeat(40)}`,
      '```\n',
      '<https://',
      '\u200B',
      'fix-',
    ];
    for (const unit of units) {
      const text = unit.repeat(Math.ceil(200_000 / unit.length));
      const started = performance.now();
      neutralise(text);
      // A quadratic step takes minutes here; the bound only has to tell the two apart.
      expect(performance.now() - started).toBeLessThan(5_000);
    }
  });
});
