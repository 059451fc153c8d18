import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Command, maxCommands, parseCommands } from '../../../../lanes/rules/commands/index.ts';
import { verbHelp, verbs } from '../../../../lanes/rules/help.ts';

const commands = (body: string): Command[] =>
  parseCommands(body).flatMap((one) => (one.ok ? [one.command] : []));
const problems = (body: string): unknown[] =>
  parseCommands(body).flatMap((one) => (one.ok ? [] : [{ problem: one.problem, verb: one.verb }]));

const sha = 'a1b2c3d4e5'.repeat(4);

describe('what is a command', () => {
  it.each<[string, Command]>([
    ['/lane status', { verb: 'status' }],
    ['/lane', { verb: 'help' }],
    ['/lane help me', { verb: 'help' }],
    ['/Lane STATUS', { verb: 'status' }],
    ['/lane\tcancel', { verb: 'cancel' }],
    ['/lane cancel because it is done', { verb: 'cancel' }],
    ['/lane accept', { verb: 'accept' }],
    ['/lane park we wait for the release', { verb: 'park', why: 'we wait for the release' }],
    ['/lane resume', { verb: 'resume' }],
    [
      '/lane resume use `parseName`, **not** the other',
      { verb: 'resume', answer: 'use `parseName`, **not** the other' },
    ],
    ['/lane waive c3f9 not needed', { verb: 'waive', id: 'c3f9', why: 'not needed' }],
    ['/lane na AC-1 server only', { verb: 'na', id: 'AC-1', why: 'server only' }],
    ['/lane withdraw `c3f9`: my mistake', { verb: 'withdraw', id: 'c3f9', why: 'my mistake' }],
    ['/lane open c3f9', { verb: 'open', id: 'c3f9' }],
    ['/lane moved c3f9 #12', { verb: 'moved', id: 'c3f9', issue: 12 }],
    [
      '/lane moved c3f9 #12 for the next release',
      { verb: 'moved', id: 'c3f9', issue: 12, why: 'for the next release' },
    ],
    ['/lane superseded c3f9 k2w7', { verb: 'superseded', id: 'c3f9', by: 'k2w7' }],
    [
      '/lane superseded c3f9 #7 it asks for more',
      { verb: 'superseded', id: 'c3f9', by: '#7', why: 'it asks for more' },
    ],
  ])('%s', (body, command) => {
    expect(commands(body)).toEqual([command]);
  });

  it.each<[string, unknown]>([
    ['check:unit', [{ kind: 'check', name: 'unit' }]],
    [
      '`check:unit` and I ran it',
      [
        { kind: 'check', name: 'unit' },
        { kind: 'statement', text: 'and I ran it' },
      ],
    ],
    ['file:`src/a.ts`', [{ kind: 'file', path: 'src/a.ts' }]],
    [sha, [{ kind: 'commit', sha }]],
    ['a1b2c3d', [{ kind: 'commit', sha: 'a1b2c3d' }]],
    ['https://github.com/a/b/pull/3', [{ kind: 'url', url: 'https://github.com/a/b/pull/3' }]],
    ['<https://ci.example/1?a=1&b=2>', [{ kind: 'url', url: 'https://ci.example/1?a=1&b=2' }]],
    [
      'check:unit, check:e2e',
      [
        { kind: 'check', name: 'unit' },
        { kind: 'check', name: 'e2e' },
      ],
    ],
    ['I looked at it', [{ kind: 'statement', text: 'I looked at it' }]],
    ['effaced deadbeef', [{ kind: 'statement', text: 'effaced deadbeef' }]],
    ['seen at check:unit', [{ kind: 'statement', text: 'seen at check:unit' }]],
  ])('met by %s', (words, evidence) => {
    expect(commands(`/lane met c3f9 ${words}`)).toEqual([{ verb: 'met', id: 'c3f9', evidence }]);
  });

  it('each line is one, among other words, with any line end', () => {
    const body =
      'Thanks!\r\n\r\n/lane met c3f9 check:unit\r\n/lane waive k2w7 no\r\n\r\nMore words.\r\n   /lane open p8d4';
    expect(commands(body).map(({ verb }) => verb)).toEqual(['met', 'waive', 'open']);
    expect(commands('text\n/lane status\ntext')).toEqual([{ verb: 'status' }]);
    expect(commands('one\n\n- a point\n/lane resume go on')).toEqual([{ verb: 'resume', answer: 'go on' }]);
    expect(commands('- a point\n\n  /lane status')).toEqual([{ verb: 'status' }]);
    expect(commands('/lane status  \n/lane help\\\n/lane cancel')).toHaveLength(3);
  });

  it('an e-mail signature below a command does not hide it', () => {
    expect(commands('/lane resume yes\n--\nBob')).toEqual([{ verb: 'resume', answer: 'yes' }]);
    expect(commands('/lane resume yes\n==')).toEqual([{ verb: 'resume', answer: 'yes' }]);
  });

  it.each([
    ['a fence', '```\n/lane cancel\n```'],
    ['an unclosed fence', '~~~\n/lane cancel'],
    ['an indented block', 'text\n\n    /lane cancel'],
    ['inline code', '`/lane cancel`'],
    ['inline code over two lines', '`a\n/lane cancel\nb`'],
    ['a quote', '> /lane cancel'],
    ['a lazy quote', '> she said\n/lane cancel'],
    ['a nested quote', '- > /lane cancel'],
    ['a comment', '<!-- /lane cancel -->'],
    ['a comment over lines', '<!--\n/lane cancel\n-->'],
    ['an inline comment', 'text <!--\n/lane cancel\n--> text'],
    ['an unclosed comment', '<!--\n\n/lane cancel'],
    ['HTML', '<details>\n/lane cancel\n</details>'],
    ['a heading', '# /lane cancel'],
    ['a bullet', '- /lane cancel'],
    ['a table', '| /lane cancel | b |\n| --- | --- |\n| /lane cancel | c |'],
    ['a footnote', 'a[^1]\n\n[^1]: /lane cancel'],
    ['a definition', '[a]: <x>\n"/lane cancel\n"'],
    ['the middle of a line', 'say /lane cancel'],
    ['emphasis', '**/lane cancel**'],
    ['struck text', '~~/lane cancel~~'],
    ['a link', '[/lane cancel](https://example.com)'],
    ['an escape', '\\/lane cancel'],
    ['an entity', '&#47;lane cancel'],
    ['a longer word', '/lanes cancel'],
    ['a path', '/lane/cancel'],
    ['nothing', ''],
  ])('%s holds none', (_, body) => {
    expect(parseCommands(body)).toEqual([]);
  });

  it('a comment inside a command is not part of it', () => {
    expect(commands('/lane park <!-- hidden --> we wait <!-- more\n/lane cancel --> x')).toEqual([
      { verb: 'park', why: 'we wait' },
    ]);
  });

  it('hidden characters are taken out of its words', () => {
    expect(commands('/lane waive c3\u200Bf9 no\u202E need\u{E0041}')).toEqual([
      { verb: 'waive', id: 'c3f9', why: 'no need' },
    ]);
  });

  it('works in any script', () => {
    expect(commands('/lane resume 空白だけの名前も空とみなす 🙂')).toEqual([
      { verb: 'resume', answer: '空白だけの名前も空とみなす 🙂' },
    ]);
    expect(commands('/lane park ننتظر الإصدار')).toEqual([{ verb: 'park', why: 'ننتظر الإصدار' }]);
  });
});

describe('what is wrong with a command', () => {
  it.each([
    ['/lane frobnicate', 'unknown_verb', undefined],
    ['/lane statsu', 'unknown_verb', 'status'],
    ['/lane cancel, please', 'unknown_verb', 'cancel'],
    ['/lane met', 'missing_id', 'met'],
    ['/lane met c3f9', 'missing_evidence', 'met'],
    ['/lane waive', 'missing_id', 'waive'],
    ['/lane waive c3f9', 'missing_reason', 'waive'],
    ['/lane na c3f9', 'missing_reason', 'na'],
    ['/lane withdraw c3f9 <!-- x -->', 'missing_reason', 'withdraw'],
    ['/lane park', 'missing_reason', 'park'],
    ['/lane open', 'missing_id', 'open'],
    ['/lane open c3f9 k2w7', 'unexpected_words', 'open'],
    ['/lane accept c3f9', 'unexpected_words', 'accept'],
    ['/lane moved c3f9', 'missing_issue', 'moved'],
    ['/lane moved c3f9 12', 'missing_issue', 'moved'],
    ['/lane moved c3f9 #0', 'missing_issue', 'moved'],
    ['/lane moved c3f9 other/repo#1', 'missing_issue', 'moved'],
    ['/lane superseded c3f9', 'missing_by', 'superseded'],
    [`/lane waive c3f9 ${'x'.repeat(4_001)}`, 'too_long', 'waive'],
    [`/lane resume ${'x'.repeat(10_001)}`, 'too_long', 'resume'],
    [`/lane met c3f9 ${'x '.repeat(2_001)}`, 'too_long', 'met'],
  ])('%s', (body, problem, verb) => {
    expect(problems(body)).toEqual([{ problem, verb }]);
  });

  it('the twenty-first command of a comment is refused, and the ones before it count', () => {
    const body = '/lane status\n'.repeat(30);
    expect(commands(body)).toHaveLength(maxCommands);
    expect(problems(body)).toEqual([{ problem: 'too_many', verb: undefined }]);
  });

  it('a comment that cannot be parsed in time is refused whole', () => {
    for (const body of [
      `${'> '.repeat(20_000)}\n\n/lane status`,
      `${'- '.repeat(4_000)}\n\n/lane status`,
      `/lane park ${'*a_'.repeat(15_000)}`,
      `/lane status\n${'x'.repeat(70_000)}`,
    ]) {
      expect(problems(body)).toEqual([{ problem: 'unreadable', verb: undefined }]);
    }
    expect(parseCommands('> '.repeat(20_000))).toEqual([]);
  });

  it('what is shown of a line is bounded', () => {
    const [one] = parseCommands(`/lane frobnicate ${'x'.repeat(5_000)}`);
    expect(one?.line.length).toBeLessThan(210);
  });
});

describe('for any comment', () => {
  const part = fc.constantFrom(
    ...[
      '/lane ',
      'status',
      'met ',
      'c3f9 ',
      '\n',
      '\r\n',
      '\n\n',
      '```',
      '> ',
      '- ',
      '    ',
      '`',
      '<!--',
      '-->',
      '*',
      '#',
    ],
    ...[
      '|',
      '~~~',
      '[',
      ']',
      '(',
      '\\',
      '&#47;',
      'x',
      ' ',
      '\t',
      '\u200B',
      '--',
      '==',
      '<details>',
      '\u0000',
      '日',
    ],
  );

  it('nothing throws, and every command has what its verb needs', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 50 }), (parts) => {
        for (const one of parseCommands(parts.join(''))) {
          if (!one.ok) continue;
          expect(verbs).toContain(one.command.verb);
          if ('id' in one.command) expect(one.command.id).not.toBe('');
          if ('why' in one.command) expect(one.command.why).not.toBe('');
        }
      }),
      { numRuns: 3_000 },
    );
  });

  it('a comment put into a quote holds none', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 50 }), (parts) => {
        const quoted = parts
          .join('')
          .split(/\r\n|\n|\r/)
          .map((line) => `> ${line}`)
          .join('\n');
        expect(parseCommands(quoted)).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });
});

it('the help shows every verb as it is written', () => {
  for (const verb of verbs) expect(verbHelp[verb].usage).toMatch(new RegExp(`^/lane ${verb}\\b`));
});
