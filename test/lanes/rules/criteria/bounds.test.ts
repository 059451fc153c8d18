import { describe, expect, test } from 'vitest';
import {
  checkBounds,
  MAX_BODY_CHARS,
  MAX_CRITERIA,
  measureNesting,
  readCriteria,
  readiness,
} from '../../../../lanes/rules/criteria/index.ts';
import { ordinaryBody } from '../../../bench/criteria.ts';

const fill = (unit: string, chars = MAX_BODY_CHARS) =>
  unit.repeat(Math.ceil(chars / unit.length)).slice(0, chars);

describe('hostile bodies are refused before parsing', () => {
  test.each([
    ['quotes in one line', fill('> ')],
    ['quotes without spaces', fill('>')],
    ['8 KB of dashes', fill('- ', 8192)],
    ['lists of every kind', fill('- 1. * + ', 8192)],
    ['quotes and lists in turns', fill('> - ', 8192)],
    [
      'ever deeper indents',
      Array.from({ length: 350 }, (_, depth) => `${' '.repeat(2 * depth)}- a`).join('\n'),
    ],
    ['open brackets', fill('[')],
    ['closed brackets', fill(']')],
    ['images', fill('![')],
    ['emphasis in chains', fill('*a_')],
    ['emphasis over lines', fill('*a\n_b\n')],
    ['strikes', fill('~a')],
    ['backticks', fill('`a``b```c')],
    ['backslashes and backticks', fill('```\\')],
    ['addresses', fill('www.a_')],
    ['tags', fill('<a ')],
    ['entities', fill('&amp')],
    ['underlines of headings', fill('a\n=\n')],
    ['many small quotes', fill('> a\n\n')],
    ['a table row of marks', `|a|\n|-|\n|${fill('*_', 60_000)}|`],
    ['a fence that ends with its quote', `> \`\`\`\n\n${fill('*a_', 60_000)}`],
    ['a fence that ends with its item', `- a\n\n  - b\n\n        \`\`\`\n${fill('*a_', 60_000)}`],
  ])('%s', (_, body) => {
    expect(measureNesting(body).kind).toBe('too_deep');
  });

  test('one character too many', () => {
    expect(checkBounds('a'.repeat(MAX_BODY_CHARS + 1))).toEqual({
      kind: 'too_long',
      chars: MAX_BODY_CHARS + 1,
    });
    expect(checkBounds('a'.repeat(MAX_BODY_CHARS))).toEqual({ kind: 'ok' });
  });
});

describe('ordinary bodies pass', () => {
  test.each([
    ['60 KB of an ordinary issue', ordinaryBody(60_000)],
    [
      'lists of eight levels',
      Array.from({ length: 8 }, (_, depth) => `${'  '.repeat(depth)}- [ ] level ${depth}`).join('\n'),
    ],
    [
      'mails quoted ten times',
      Array.from({ length: 10 }, (_, depth) => `${'> '.repeat(depth)}said number ${depth}`).join('\n'),
    ],
    ['a long rule', `a\n\n${'- '.repeat(40)}\n\nb`],
    [
      'a long list with bold and code',
      fill('- [ ] **The door** opens at `noon`, see [there](https://example.org)\n', 60_000),
    ],
    ['a wide table', `| a | b |\n|---|---|\n${fill('| **x** | `y` |\n', 50_000)}`],
    ['a fence full of brackets', `\`\`\`json\n${fill('[["a_b", "*"]],\n', 60_000)}\n\`\`\`\n`],
    ['a fence inside an item', `- item\n\n  \`\`\`sh\n${fill('  echo "$[a]" **\n', 60_000)}  \`\`\`\n`],
    ['a pasted log', fill('2026-01-01 12:00:00 [worker_7] job_id=42 took 12 ms\n', 50_000)],
    [
      'a long paragraph of prose',
      fill('The *door* opens and the lamp shines, said the keeper of the pier. ', 60_000),
    ],
    ['only line ends', fill('\r\n')],
  ])('%s', (_, body) => {
    expect(checkBounds(body)).toEqual({ kind: 'ok' });
  });
});

describe('whether a reading is enough', () => {
  const items = (count: number) =>
    `## AC\n${Array.from({ length: count }, (_, n) => `- [ ] door ${n} opens\n`).join('')}`;

  test.each([
    ['ready', items(1), { kind: 'ready' }],
    ['the most that are allowed', items(MAX_CRITERIA), { kind: 'ready' }],
    [
      'one too many',
      items(MAX_CRITERIA + 1),
      { kind: 'too_many', found: MAX_CRITERIA + 1, limit: MAX_CRITERIA },
    ],
    ['template text', '## AC\n- [ ] TBD\n', { kind: 'placeholders', texts: ['TBD'] }],
    ['a link', '## AC\n[spec](http://x.y)\n', { kind: 'external', links: ['http://x.y'] }],
    ['task items', '- [ ] measure the pier\n', { kind: 'proposal', texts: ['measure the pier'] }],
    ['an empty section', '## AC\n', { kind: 'none' }],
    ['no body', '', { kind: 'none' }],
  ])('%s', (_, body, wanted) => {
    expect(readiness(readCriteria(body))).toEqual(wanted);
  });
});
