/** The three issues that the demo plays: what people write, do and expect to read. */
import type { NoteState } from './watch.ts';

export interface Story {
  readonly about: string;
  readonly title: string;
  readonly body: string;
  /** What a person does once the first note says `parked`. */
  readonly whenParked?: 'add the criteria' | 'waive what is open';
  readonly notes: readonly NoteState[];
  readonly dispositions: Readonly<Record<string, number>>;
}

export const missingCriteria = `

## Acceptance criteria
- [ ] Blank lines are skipped
`;

export const stories: readonly Story[] = [
  {
    about: 'The plain case: the agent works, its proof holds, the issue closes.',
    title: 'Totals look wrong on the receipt',
    body: `The receipt says 0.30000000000000004.

## Acceptance criteria
- [ ] AC-1: The total always has two decimals
- [ ] AC-2: An empty cart costs 0.00
`,
    notes: ['complete'],
    dispositions: { met: 2 },
  },
  {
    about: 'No acceptance criteria: it parks and asks; a permitted person adds them; it goes on by itself.',
    title: 'The importer chokes on empty lines',
    body: 'It makes widgets without a name. Please mend it.',
    whenParked: 'add the criteria',
    notes: ['parked', 'resumed', 'complete'],
    dispositions: { met: 1 },
  },
  {
    about:
      'The agent claims more than its proof shows: it parks, and closes only after a person has decided.',
    title: 'The importer keeps duplicates',
    body: `## Acceptance criteria
- [ ] Of two widgets with one name the later one wins
- [ ] Names that differ only in case count as one name
`,
    whenParked: 'waive what is open',
    notes: ['parked', 'complete'],
    dispositions: { met: 1, waived: 1 },
  },
];
