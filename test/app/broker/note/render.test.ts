import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type NoteInput, readNote, renderNote } from '../../../../app/broker/note/index.ts';
import { maxBlockChars } from '../../../../app/broker/note/machine.ts';
import { dispositionKindSchema } from '../../../../lanes/records/dispositions.ts';
import { type ParkReason, parkReasonSchema } from '../../../../lanes/records/tasks.ts';
import { atMs, complete, criterion, disposition, key, parked, person, resumed, secret } from './support.ts';

const options = { key, secrets: [secret] };
const render = (input: NoteInput): string => renderNote(input, options);
const words = (input: NoteInput): string => render(input).split('\n').slice(1).join('\n');
const closing = /(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?:\S*#\d|https?:)/i;

const nothingYet = {
  criteria: [],
  dispositions: {},
  proposals: [],
  history: [],
  notices: [],
  summary: '',
  patch: undefined,
};

/** A task of a size that a body of 65,536 characters and a result file of 1 MB can bring about, and more. */
function hugeTask(text: (n: number) => string, count = 200): Partial<NoteInput['task']> {
  const texts = Array.from({ length: 10 }, (_, n) => text(n).slice(0, 2_000));
  const some = (n: number, maxChars: number): string => (texts[n % 10] ?? '').slice(0, maxChars);
  const ids = Array.from({ length: count }, (_, n) => `c${n.toString(36).padStart(4, '0')}`);
  return {
    criteria: ids.map((id, n) => criterion(id, `${n} ${some(n, 1_000)}`)),
    dispositions: Object.fromEntries(
      ids.map((id, n) => [
        id,
        disposition(id, {
          kind: n % 2 === 0 ? 'met' : 'waived',
          by: n % 2 === 0 ? { kind: 'agent', run: 2 } : person,
          reason: `${n} ${some(n + 1, 1_000)}`,
          target: `${n} ${some(n + 2, 190)}`,
          evidence: Array.from({ length: 20 }, (_, k) => ({
            evidence: { kind: 'statement', text: `${n} ${k} ${some(n + k, 250)}` },
            standing: k % 2 === 0 ? 'verified' : 'asserted',
            how: some(k, 100),
          })),
        }),
      ]),
    ),
    proposals: ids.map((id, n) => disposition(id, { kind: 'moved', reason: some(n, 1_000) })),
    summary: text(1).slice(0, 20_000),
    question: text(2).slice(0, 10_000),
    notices: Array.from({ length: 100 }, (_, n) => some(n, 1_000)),
    detail: text(3).slice(0, 4_000),
  };
}

/** Text that deflate cannot shrink much, the same in every run. */
function noise(seed: number, chars: number): string {
  let state = seed * 2_654_435_761 + 1;
  let text = '';
  while (text.length < chars) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    text += `${state.toString(36)} `;
  }
  return text.slice(0, chars);
}

describe('a note', () => {
  it.each(parkReasonSchema.options)('parked(%s) has its own text that says what to do', (reason) => {
    const text = words(parked(reason, { detail: 'a detail', question: 'Which one?' }));
    expect(text).toMatch(/^\n### Parked: \S/);
    expect(text).toContain('**To go on**');
    expect(text).toMatch(/\/lane resume|saves that edit/);
    expect(text).not.toMatch(closing);
    expect(text).not.toMatch(/undefined|\[object|\{\{|%\}/);
    expect(text).not.toMatch(/\n{3,}/);
  });

  it('no two park reasons share a heading', () => {
    const heading = (reason: ParkReason): string => words(parked(reason)).trim().split('\n')[0] ?? '';
    expect(new Set(parkReasonSchema.options.map(heading)).size).toBe(parkReasonSchema.options.length);
  });

  it.each(parkReasonSchema.options)(
    'parked(%s) needs no run, no worker and no criteria to be told',
    (reason) => {
      const text = words(parked(reason, { ...nothingYet, claimedBy: undefined }, { open: [] }));
      expect(text).not.toMatch(/(?<!`)``(?!`)|undefined|\| Id \|/);
    },
  );

  it('for missing criteria proposes the task list that was found', () => {
    const text = words(parked('no_criteria', nothingYet, { open: [], found: ['Do this', 'Then\n``` that'] }));
    expect(
      words(parked('no_criteria', { ...nothingYet, detail: 'Do this\nThen' }, { found: ['Do this'] })),
    ).not.toContain('```text');
    expect(text).toContain('## Acceptance criteria\n\n- [ ] Do this\n- [ ] Then ``` that\n```');
  });

  it('tells a short detail after the sentence, and folds a long one', () => {
    expect(words(parked('disk', { detail: 'no space left' }))).toContain('is kept. No space left.');
    expect(words(parked('disk', { detail: 'first\n```\nsecond' }))).toContain('````text\nfirst\n```\nsecond');
    expect(words(parked('unreadable_body', { detail: 'too_deep' }))).toContain(
      'nests quotes, lists or marks',
    );
  });

  it('of long output the end is shown, which says why', () => {
    const detail = `The last of 3 runs ended.\n\n${'noise\n'.repeat(4_000)}the last words`;
    expect(words(parked('runs_exhausted', { detail }))).toMatch(/\nthe last words\n```/);
  });

  it('shows the verdicts, what is open and why, and evidence by standing', () => {
    const text = words(parked('criteria_open'));
    expect(text).toContain(
      '| `c3f9` | AC-1: An empty name is refused with a message | **met** | agent, run 2 | 2 verified |',
    );
    expect(text).toContain(
      '| **open**: “met”, but not verified: Added a section on the option | agent, run 2 | 1 asserted |',
    );
    expect(text).toContain('| **waived**: nobody has old files | alice |');
    expect(text).toContain('| `t5m2` | It works on Windows | **open** |');
    const [verified = '', asserted = ''] = text.split('**Not verified**');
    expect(verified).toContain('- `c3f9`: check `unit` (passed again on the captured tree)');
    expect(asserted).toContain('- `k2w7`: https://ci.example/1234');
    expect(verified).not.toContain('ci.example');
    expect(asserted).not.toContain('captured tree');
  });

  it('says of a reworded and of a removed criterion why it is open', () => {
    const open = [
      { criterion: 'c3f9', why: 'stale' },
      { criterion: 't5m2', why: 'removed_without_disposition' },
      { criterion: 'p8d4', why: 'not_closing' },
    ] as const;
    const text = words(parked('criteria_changed', {}, { open }));
    expect(text).toContain('**open**: reworded since it was judged “met”');
    expect(text).toContain('**open**: its line was removed from the issue');
    expect(text).toContain('a last look found 3 criteria open again');
  });

  it('shows proposals apart, each with the command that accepts it', () => {
    const kinds = {
      waived: '/lane waive t5m2 <why>',
      not_applicable: '/lane na t5m2 <why>',
      withdrawn: '/lane withdraw t5m2 <why>',
      moved: '/lane moved t5m2 #7',
      superseded: '/lane superseded t5m2 c3f9',
      met: '/lane met t5m2 <evidence>',
    } as const;
    for (const [name, command] of Object.entries(kinds)) {
      const kind = dispositionKindSchema.parse(name);
      const target = kind === 'moved' ? '#7' : 'c3f9';
      const proposals = [disposition('t5m2', { kind, target, reason: 'because' })];
      const text = words(parked('criteria_open', { proposals }));
      expect(text).toContain(`because → \`${command}\``);
      expect(text).toContain('`/lane accept`');
    }
  });

  it('a proposal with a strange target or id offers a command that cannot do harm', () => {
    const proposals = [disposition('`x` | /y', { kind: 'moved', target: 'a/b#1 --force' })];
    expect(words(parked('criteria_open', { proposals }))).toContain('`/lane moved xy #<n>`');
  });

  it('tells how to get the patch, and the sum of verdicts when complete', () => {
    expect(words(parked('criteria_open'))).toContain('`lanekeeper patch acme/app#12`');
    expect(words(complete())).toContain('(2 met, 1 waived), so this issue is closed as completed.');
    expect(words(complete('not_planned'))).toContain('closed as not planned');
    expect(words(complete())).not.toMatch(closing);
  });

  it('resumed is short, quotes the answer, and has no table', () => {
    const text = words(resumed());
    expect(text).toContain('> Names of spaces count as empty too.');
    expect(text).not.toContain('| Id |');
    expect(text.length).toBeLessThan(500);
  });

  it('neutralises every text that comes from outside', () => {
    const hostile = [
      '@victim and @org/team, fixes #1, ![p](https://t.example/p.png)',
      '<!-- lanekeeper:note v1 eJwAAA sig -->',
      '</details></table><img src=x>',
      '```',
      '| a | b |',
      '# Heading `tick` &#64;victim',
    ].join('\n');
    const task = {
      summary: hostile,
      question: hostile,
      detail: hostile,
      notices: [hostile],
      title: hostile,
      claimedBy: hostile,
      criteria: [criterion('c3f9', hostile, { label: hostile.slice(0, 30) })],
      dispositions: {
        c3f9: disposition('c3f9', {
          reason: hostile,
          target: hostile,
          evidence: (['verified', 'asserted'] as const).flatMap((standing) => [
            { evidence: { kind: 'check' as const, name: hostile.slice(0, 100) }, standing, how: hostile },
            { evidence: { kind: 'file' as const, path: hostile }, standing, how: hostile },
            { evidence: { kind: 'url' as const, url: hostile }, standing, how: hostile },
            { evidence: { kind: 'statement' as const, text: hostile }, standing, how: hostile },
          ]),
        }),
      },
      proposals: [disposition('c3f9', { kind: 'superseded', target: hostile, reason: hostile })],
      history: [{ run: 1, worker: hostile, outcome: 'died' as const, detail: hostile, atMs }],
      answers: [{ by: person.person, text: hostile, atMs }],
    };
    const inputs = parkReasonSchema.options.map((reason) => parked(reason, task, { found: [] }));
    for (const input of [...inputs, resumed(task), complete('completed', task)]) {
      const text = words(input);
      expect(text).not.toMatch(/@victim|@org|!\[|<!--|<\/table|<img|lanekeeper:note|&#64;/);
      expect(text).not.toMatch(closing);
      expect(text.match(/<\/details>/g)?.length ?? 0).toBe(text.match(/<details>/g)?.length ?? 0);
      for (const row of text.split('\n').filter((line) => line.startsWith('| `'))) {
        expect(row.replaceAll('\\|', '').split('|')).toHaveLength(7);
      }
    }
  });

  it('an alert in agent text does not pass for our own words', () => {
    expect(words(parked('criteria_open', { summary: '[!IMPORTANT]\nApproved.' }))).toContain(
      '> \\[!IMPORTANT]',
    );
  });

  it('redacts secrets in the words and in the block', () => {
    const token = `ghs_${'a1B2'.repeat(9)}`;
    const leak = `see ${token} and ${secret}`;
    const input = parked('criteria_open', {
      summary: leak,
      detail: leak,
      criteria: [criterion('c3f9', leak)],
      dispositions: { c3f9: disposition('c3f9', { reason: leak }) },
      proposals: [],
    });
    const note = render(input);
    const reading = readNote(note, [key]);
    for (const text of [note, JSON.stringify(reading)]) {
      expect(text).not.toContain(token);
      expect(text).not.toContain(secret);
      expect(text).toContain('[redacted]');
    }
  });

  it('a long summary is cut first, and the note says so', () => {
    const long = parked('criteria_open', {
      summary: noise(1, 20_000),
      detail: `first\n${noise(2, 3_900)}`,
      notices: Array.from({ length: 100 }, (_, n) => noise(n, 1_000)),
      question: noise(3, 9_000),
      criteria: Array.from({ length: 120 }, (_, n) => criterion(`c${n}`, noise(n, 150))),
    });
    const note = render(long);
    expect(note.length).toBeLessThanOrEqual(60_000);
    expect(note).toContain('Some of this note was left out to fit into one comment.');
    expect(note).toContain('| `c119` |');
    expect(readNote(note, [key]).ok).toBe(true);
    expect(words(parked('criteria_open'))).not.toContain('left out');
  });

  it.each([
    ['noise', (n: number) => noise(n, 20_000)],
    ['Japanese', (n: number) => `第${n}項：名前が空のときはエラーを表示する。`.repeat(3_000)],
    ['right-to-left', (n: number) => `الاسم الفارغ مرفوض ${n} `.repeat(3_000)],
    ['emoji', (n: number) => `👩‍👩‍👧🙂${n}`.repeat(6_000)],
    ['mentions', (n: number) => `@user${n} |`.repeat(8_000)],
    ['tags', (n: number) => `<b>${n}`.repeat(9_000)],
  ])('200 criteria with long texts of %s fit, and the block stays whole', (_, text) => {
    for (const input of [
      ...(['criteria_open', 'needs_answer'] as const).map((reason) => parked(reason, hugeTask(text))),
      complete('completed', hugeTask(text)),
      resumed(hugeTask(text)),
    ]) {
      const note = render(input);
      expect(note.length).toBeLessThanOrEqual(60_000);
      expect(note.indexOf('\n')).toBeLessThanOrEqual(maxBlockChars);
      const reading = readNote(note, [key]);
      if (!reading.ok) throw new Error(reading.why);
      expect(reading.note.criteria).toHaveLength(200);
      expect(reading.note.dispositions).toHaveLength(200);
      expect(note).not.toMatch(/\p{Surrogate}/u);
      expect(note).toContain('<sub>Lanekeeper');
    }
  });

  it('a block of texts that do not deflate drops reasons first, then texts, never a verdict', () => {
    const ids = Array.from({ length: 200 }, (_, n) => `c${n}`);
    const task = {
      criteria: ids.map((id, n) => criterion(id, noise(n, 1_000))),
      dispositions: Object.fromEntries(
        ids.map((id, n) => [id, disposition(id, { kind: 'not_met', reason: noise(n + 200, 1_000) })]),
      ),
      proposals: [],
    };
    const note = render(parked('criteria_open', task));
    const reading = readNote(note, [key]);
    if (!reading.ok) throw new Error(reading.why);
    expect(note.indexOf('\n')).toBeLessThanOrEqual(maxBlockChars);
    expect(reading.note.cut).toBeGreaterThan(0);
    expect(reading.note.criteria).toHaveLength(200);
    expect(reading.note.dispositions.map(({ kind }) => kind)).toEqual(ids.map(() => 'not_met'));
    expect(reading.note.dispositions.some(({ reason }) => reason !== undefined)).toBe(false);
  });

  it('the block of thousands of criteria is shortened to whole entries', () => {
    const note = render(
      parked(
        'too_many_criteria',
        hugeTask((n) => noise(n, 200), 2_000),
      ),
    );
    const reading = readNote(note, [key]);
    expect(note.length).toBeLessThanOrEqual(60_000);
    expect(reading.ok && reading.note.criteria.length).toBe(500);
  });

  it('renders and reads back for any texts', () => {
    const text = fc.string({ unit: 'binary', maxLength: 300 });
    fc.assert(
      fc.property(text, text, text, fc.constantFrom(...parkReasonSchema.options), (a, b, c, reason) => {
        const task = {
          summary: a,
          question: b,
          detail: c,
          criteria: [criterion('c3f9', b)],
          notices: [c],
        };
        const note = render(parked(reason, task, { found: [a] }));
        expect(readNote(note, [key]).ok).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
