import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  checkBounds,
  MAX_BODY_CHARS,
  matchCriteria,
  readCriteria,
} from '../../../../lanes/rules/criteria/index.ts';
import { cases } from './fixtures.ts';

const PIECES = [
  '## Acceptance criteria\n',
  '**AC:**\n',
  'Acceptance: ',
  '### Notes\n',
  '- [ ] ',
  '- [x] ',
  '- ',
  '1. ',
  '  - [ ] ',
  '[ ] ',
  '-[x] ',
  '☐ ',
  '> ',
  '\n',
  '\n\n',
  '\r\n',
  '<details>\n<summary>AC</summary>\n',
  '</details>\n',
  '<ul><li>',
  '</li></ul>',
  '<!-- ',
  ' -->',
  '```gherkin\n',
  '```\n',
  'Given a\n',
  'When b\n',
  'Then c\n',
  'Scenario: s\n',
  '| Acceptance criteria |\n|---|\n',
  '| a |\n',
  '~~',
  '**',
  '`',
  '[a](b)',
  '<br>',
  'AC-1: ',
  'the door opens',
  '验收标准',
  '\u00a0',
  '\u200f',
  '\u0000',
  '\ud800',
  '#12',
  '---\n',
  'TBD',
  ':',
  '\t',
];
const body = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary', maxLength: 12 })), {
    maxLength: 40,
  })
  .map((pieces) => pieces.join(''));

test('any body is read without an error, and every criterion is well formed', () => {
  fc.assert(
    fc.property(body, (text) => {
      const reading = readCriteria(text);
      for (const criterion of reading.criteria) {
        expect(criterion.text.trim()).not.toBe('');
        expect(criterion.text).not.toMatch(/[\n\t\u00a0]| {2}/);
        expect(criterion.depth).toBeGreaterThanOrEqual(0);
        if (criterion.checked) expect(criterion.checkbox).toBe(true);
      }
      expect(reading.section === null).toBe(reading.fallbackTasklist !== undefined);
      if (reading.section === null) expect(reading.criteria).toEqual([]);
    }),
    { numRuns: 1500 },
  );
});

test('a body cut anywhere is read without an error', () => {
  const all = cases.map((entry) => entry.body);
  fc.assert(
    fc.property(fc.constantFrom(...all), fc.nat(), fc.constantFrom(...all), (left, at, right) => {
      readCriteria(left.slice(0, at % (left.length + 1)) + right);
    }),
    { numRuns: 300 },
  );
});

test('every case is within the bounds, also many of them in one body', () => {
  for (const entry of cases) expect(checkBounds(entry.body)).toEqual({ kind: 'ok' });
  const long = cases.map((entry) => entry.body).join('\n\n');
  expect(checkBounds(long.slice(0, MAX_BODY_CHARS))).toEqual({ kind: 'ok' });
});

const word = fc.constantFrom(
  'door',
  'lamp',
  'boat',
  'gate',
  'crane',
  'opens',
  'closes',
  'shines',
  'stops',
  'within',
  'seconds',
  'night',
  'never',
  'always',
  'red',
);
const lines = fc.uniqueArray(
  fc.array(word, { minLength: 3, maxLength: 7 }).map((words) => words.join(' ')),
  { minLength: 1, maxLength: 25 },
);

test('ticking and reordering change no id and make nothing stale', () => {
  fc.assert(
    fc.property(
      lines,
      fc.infiniteStream(fc.boolean()),
      fc.infiniteStream(fc.nat()),
      (texts, ticks, order) => {
        let last = 0;
        const mint = () => `k${++last}`;
        const write = (items: readonly string[]) =>
          `## AC\n${items.map((text) => `- [${ticks.next().value ? 'x' : ' '}] ${text}`).join('\n')}\n`;
        const before = matchCriteria([], readCriteria(write(texts)).criteria, mint).criteria;
        const shuffled = texts
          .map((text) => ({ text, key: Number(order.next().value) }))
          .sort((a, b) => a.key - b.key);
        const after = matchCriteria(
          before,
          readCriteria(write(shuffled.map(({ text }) => text))).criteria,
          mint,
        );
        const idOf = new Map(before.map(({ id, text }) => [text, id]));
        expect(after.criteria.map(({ id }) => id)).toEqual(shuffled.map(({ text }) => idOf.get(text)));
        expect([after.removed, after.stale]).toEqual([[], []]);
      },
    ),
    { numRuns: 200 },
  );
});

test('no id is lost, doubled or reused by any edit', () => {
  fc.assert(
    fc.property(fc.array(lines, { minLength: 2, maxLength: 5 }), (bodies) => {
      let last = 0;
      const mint = () => `k${++last}`;
      let known: ReturnType<typeof matchCriteria>['criteria'] = [];
      for (const texts of bodies) {
        const reading = readCriteria(`## AC\n${texts.map((text) => `- ${text}`).join('\n')}\n`).criteria;
        const match = matchCriteria(known, reading, mint);
        const ids = match.criteria.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        for (const { id } of known) expect(ids).toContain(id);
        expect(match.criteria.filter(({ removed }) => !removed).map(({ text }) => text)).toEqual(
          reading.map(({ text }) => text),
        );
        for (const { id, revision } of known) {
          const now = match.criteria.find((criterion) => criterion.id === id);
          expect(now?.revision).toBe(revision + (match.stale.includes(id) ? 1 : 0));
        }
        known = match.criteria;
      }
    }),
    { numRuns: 150 },
  );
});
