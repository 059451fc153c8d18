import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Criterion, criterionSchema } from '../../../../lanes/records/criteria.ts';
import { matchCriteria, readCriteria } from '../../../../lanes/rules/criteria/index.ts';

function counter(prefix: string): () => string {
  let last = 0;
  return () => `${prefix}${++last}`;
}

const read = (...lines: string[]) => readCriteria(`## Acceptance criteria\n${lines.join('\n')}\n`).criteria;
const first = (...lines: string[]) => matchCriteria([], read(...lines), counter('k')).criteria;

/** Ids of the body after an edit, `n1` and up for new ones, then what was removed and what is stale. */
function edit(before: readonly Criterion[], ...lines: string[]) {
  const match = matchCriteria(before, read(...lines), counter('n'));
  const ids = match.criteria.filter((criterion) => !criterion.removed).map((criterion) => criterion.id);
  return { ids, removed: match.removed, stale: match.stale };
}

describe('by words', () => {
  const base = first(
    '- [ ] Boats can be reserved',
    '- [ ] A reservation needs a phone number',
    '- [ ] Cancelled boats become free',
  );

  test('quotes, dashes, case and white space do not matter', () => {
    const before = first('- [ ] The “On duty” state – a must…');
    expect(edit(before, '- [x] the "on duty"  state - A MUST...')).toEqual({
      ids: ['k1'],
      removed: [],
      stale: [],
    });
  });

  test('a typing error put right keeps the id and makes it stale', () => {
    expect(
      edit(
        base,
        '- [ ] Boats can be reservd',
        '- [ ] A reservation needs a phone number',
        '- [ ] Cancelled boats become free',
      ),
    ).toEqual({
      ids: ['k1', 'k2', 'k3'],
      removed: [],
      stale: ['k1'],
    });
  });

  test('duplicates keep their ids by occurrence', () => {
    const twice = first('- [ ] Works offline', '- [ ] Works online', '- [ ] Works offline');
    expect(edit(twice, '- [ ] Works offline', '- [ ] Works offline', '- [ ] Works online').ids).toEqual([
      'k1',
      'k3',
      'k2',
    ]);
    expect(edit(twice, '- [ ] Works offline', '- [ ] Works online')).toEqual({
      ids: ['k1', 'k2'],
      removed: ['k3'],
      stale: [],
    });
  });

  test('a merge keeps the likelier id and removes the other', () => {
    const halves = first('- [ ] The master sees all reservations of today', '- [ ] Payment is by card');
    expect(edit(halves, '- [ ] The master sees all reservations of today; payment is by card')).toEqual({
      ids: ['k1'],
      removed: ['k2'],
      stale: ['k1'],
    });
  });

  test('of two lines that became one, the one that is not its best match is removed', () => {
    const halves = first(
      '- [ ] The master sees all reservations of today',
      '- [ ] The master sees all reservations of next week',
    );
    expect(edit(halves, '- [ ] The master sees all reservations')).toEqual({
      ids: ['k1'],
      removed: ['k2'],
      stale: ['k1'],
    });
  });

  test('words that every sentence has are no likeness', () => {
    expect(
      edit(first('- [ ] Boats can be reserved for half a day'), '- [ ] A boat can be locked for repair'),
    ).toEqual({
      ids: ['n1'],
      removed: ['k1'],
      stale: [],
    });
  });

  test('swapped lines with new words are not matched by position', () => {
    expect(edit(base, '- [ ] Lamps shine', '- [ ] Boats can be reserved').ids).toEqual(['n1', 'k1']);
  });

  test('a removed criterion stays known and comes back with its id and revision', () => {
    const gone = matchCriteria(
      base,
      read('- [ ] Boats can be reserved', '- [ ] Cancelled boats become free'),
      counter('n'),
    );
    expect(gone.criteria.find(({ id }) => id === 'k2')).toMatchObject({ removed: true, revision: 1 });
    const still = matchCriteria(gone.criteria, read('- [ ] Boats can be reserved'), counter('n'));
    expect(still.removed).toEqual(['k3']);
    const back = matchCriteria(gone.criteria, read('- [ ] A reservation needs a phone number'), counter('n'));
    expect(back.criteria.find(({ id }) => id === 'k2')).toMatchObject({ removed: false, revision: 1 });
    expect(back.stale).toEqual([]);
  });

  test('each rewording raises the revision by one', () => {
    const once = matchCriteria(base, read('- [ ] Boats can be reserved for a day'), counter('n')).criteria;
    const twice = matchCriteria(
      once,
      read('- [ ] Boats can be reserved for half a day'),
      counter('n'),
    ).criteria;
    expect([once, twice].map((all) => all.find(({ id }) => id === 'k1')?.revision)).toEqual([2, 3]);
  });
});

describe('by the author’s label', () => {
  const base = first(
    '- [ ] AC-1: Gate opens for members',
    '- [ ] AC-2: Gate logs every opening',
    '- [ ] AC-3: Gate closes late',
  );

  test('renumbered labels follow the words and nothing is stale', () => {
    expect(
      edit(
        base,
        '- [ ] AC-1: Gate has a bell',
        '- [ ] AC-2: Gate opens for members',
        '- [ ] AC-3: Gate logs every opening',
        '- [ ] AC-4: Gate closes late',
      ),
    ).toEqual({ ids: ['n1', 'k1', 'k2', 'k3'], removed: [], stale: [] });
  });

  test('a renumbered text without any word keeps its id', () => {
    expect(edit(first('- [ ] AC-1: 🦀'), '- [ ] AC-2: 🦀')).toEqual({ ids: ['k1'], removed: [], stale: [] });
  });

  test('labels that moved with reworded texts follow the words', () => {
    expect(
      edit(
        base,
        '- [ ] AC-1: Gate logs every opening at once',
        '- [ ] AC-2: Gate opens for all members',
        '- [ ] AC-3: Gate closes late',
      ).ids,
    ).toEqual(['k2', 'k1', 'k3']);
  });

  test('a label on words that have nothing in common is a new criterion', () => {
    expect(
      edit(
        base,
        '- [ ] AC-1: Payment is taken by card',
        '- [ ] AC-2: Gate logs every opening',
        '- [ ] AC-3: Gate closes late',
      ),
    ).toEqual({
      ids: ['n1', 'k2', 'k3'],
      removed: ['k1'],
      stale: [],
    });
  });

  test('a label that occurs twice says nothing', () => {
    expect(
      edit(base, '- [ ] AC-2: Each opening is written', '- [ ] AC-2: Openings reach the journal').ids,
    ).toEqual(['n1', 'n2']);
  });
});

describe('by marker', () => {
  const base = first('- [ ] Locks open on the hour <!-- ac:q7 -->', '- [ ] Locks close late <!-- ac:p2 -->');

  test('a known marker wins over any words', () => {
    expect(
      edit(base, '- [ ] Payment is by card <!-- ac:p2 -->', '- [ ] Locks open on the hour <!-- ac:q7 -->'),
    ).toEqual({
      ids: ['k2', 'k1'],
      removed: [],
      stale: ['k2'],
    });
  });

  test('a copied marker stays with its words', () => {
    expect(
      edit(
        base,
        '- [ ] Lamps shine <!-- ac:q7 -->',
        '- [ ] Locks open on the hour <!-- ac:q7 -->',
        '- [ ] Locks close late <!-- ac:p2 -->',
      ).ids,
    ).toEqual(['n1', 'k1', 'k2']);
  });

  test('a marker of another issue says nothing', () => {
    expect(
      edit(base, '- [ ] Lamps shine <!-- ac:zz -->', '- [ ] Locks open on the hour', '- [ ] Locks close late')
        .ids,
    ).toEqual(['n1', 'k1', 'k2']);
  });

  test('a marker that carries the id itself is known', () => {
    expect(
      edit(first('- [ ] Locks open on the hour'), '- [ ] Payment is by card <!-- lane:k1 -->').ids,
    ).toEqual(['k1']);
  });
});

describe('by the title of the issue that a line became', () => {
  const base = first('- [ ] Boats can be reserved', '- [ ] AC-2: A phone number is asked for');

  test('with the title it keeps the id, without it is new', () => {
    const lines = read('- [ ] Boats can be reserved', '- [ ] #321');
    const titled = matchCriteria(base, lines, counter('n'), new Map([[321, 'a phone number is asked for']]));
    expect(titled).toMatchObject({ criteria: [{ id: 'k1' }, { id: 'k2', revision: 2 }], stale: ['k2'] });
    expect(matchCriteria(base, lines, counter('n'))).toMatchObject({ removed: ['k2'], stale: [] });
  });
});

describe('ids', () => {
  test('a minted id that is known is not used again', () => {
    const base = first('- [ ] Boats can be reserved');
    const match = matchCriteria(base, read('- [ ] Lamps shine'), counter('k'));
    expect(match.criteria.map(({ id }) => id)).toEqual(['k2', 'k1']);
  });

  test('a minting function that never gives a new id is an error, not a loop', () => {
    expect(() => matchCriteria(first('- [ ] Boats'), read('- [ ] Lamps shine'), () => 'k1')).toThrow(
      /minting/,
    );
  });

  test('what is kept fits its schema', () => {
    const base = first('- [x] AC-1: Boats <!-- ac:q7 -->', '- Group', '  - [ ] Lamps shine');
    expect(z.array(criterionSchema).parse(base)).toEqual(base);
  });
});
