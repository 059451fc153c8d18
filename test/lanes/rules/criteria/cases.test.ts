import { describe, expect, test } from 'vitest';
import type { Criterion } from '../../../../lanes/records/criteria.ts';
import { matchCriteria, type ReadCriterion, readCriteria } from '../../../../lanes/rules/criteria/index.ts';
import { type Case, cases } from './fixtures.ts';

const INFORMATIVE = ['detail', 'group', 'label', 'struck', 'malformed', 'mark', 'marker', 'refs'] as const;
/** The case explains in prose what is wrong with the item; we show what was cut off. */
const OTHER_WORDS = new Set(['059-tab-after-dash: malformed']);

const bare = ({ text, checked, checkbox, depth }: ReadCriterion) => ({ text, checked, checkbox, depth });

describe('each case gives its answer', () => {
  test('all cases are there', () => {
    expect(cases.length).toBeGreaterThanOrEqual(135);
  });

  test.each(cases)('$name', ({ body, expect: wanted }) => {
    const reading = readCriteria(body);
    const answers = [wanted.criteria, ...(wanted.also_acceptable ?? [])].map((answer) => answer.map(bare));
    expect(answers).toContainEqual(reading.criteria.map(bare));
    expect(reading.section).toBe(wanted.section);
    expect(reading.fallbackTasklist).toEqual(wanted.fallback_tasklist);
    expect(reading.placeholders).toEqual(wanted.placeholders);
    expect(reading.secondary).toEqual(wanted.secondary);
    expect(reading.external).toEqual(wanted.external);
  });

  test.each(cases)('$name: also what is only informative', ({ name, body, expect: wanted }) => {
    const fields = INFORMATIVE.filter((field) => !OTHER_WORDS.has(`${name}: ${field}`));
    const pick = (criterion: ReadCriterion) => fields.map((field) => criterion[field]);
    expect(readCriteria(body).criteria.map(pick)).toEqual(wanted.criteria.map(pick));
  });
});

/** Issues that the cases speak of. */
const TITLES = new Map([[321, 'A reservation needs a phone number']]);

/** What is known after a case of an edit series: its base gives the first ids. */
function knownAfter(name: string): Criterion[] {
  const found = cases.find((candidate) => candidate.name === name);
  const ids = [...(found?.expect.ids ?? [])];
  return found ? matchCriteria([], readCriteria(found.body).criteria, () => ids.shift() ?? '').criteria : [];
}

describe('ids through edits', () => {
  test.each(cases.filter(({ expect: wanted }) => wanted.edit_of))(
    '$name',
    ({ body, expect: wanted }: Case) => {
      const before = knownAfter(wanted.edit_of ?? '');
      let minted = 0;
      const mint = () => `NEW${++minted}`;
      const match = matchCriteria(before, readCriteria(body).criteria, mint, TITLES);
      const present = match.criteria.filter((criterion) => !criterion.removed);
      expect(present.map(({ id }) => (id.startsWith('NEW') ? 'NEW' : id))).toEqual(wanted.ids);
      expect(match.removed).toEqual(wanted.removed ?? []);
      expect(match.stale).toEqual(wanted.stale ?? []);
    },
  );
});
