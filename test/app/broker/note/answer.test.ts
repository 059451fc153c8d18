import { describe, expect, it } from 'vitest';
import { type Outcome, renderAnswer } from '../../../../app/broker/note/index.ts';
import type { Task } from '../../../../lanes/records/tasks.ts';
import { parseCommands } from '../../../../lanes/rules/commands/index.ts';
import { verbHelp, verbs } from '../../../../lanes/rules/help.ts';
import { disposition, makeTask, person, secret } from './support.ts';

const open = [
  { criterion: 'k2w7', why: 'unverified' },
  { criterion: 't5m2', why: 'no_disposition' },
] as const;

function answer(
  outcomes: Outcome[],
  task: Partial<Task> | null = {},
  stillOpen: readonly (typeof open)[number][] = open,
): string {
  return renderAnswer(outcomes, {
    task: task === null ? null : makeTask(task),
    open: stillOpen,
    secrets: [secret],
  });
}

const problem = (line: string): Outcome[] =>
  parseCommands(line).flatMap((one) => {
    if (one.ok) return [];
    const { ok: _, ...rest } = one;
    return [{ code: 'problem', ...rest }];
  });

describe('an answer to commands', () => {
  it('tells the verdicts that were set and what is still open', () => {
    const text = answer([
      {
        code: 'set',
        left: 0,
        dispositions: [
          disposition('t5m2', { kind: 'waived', by: person, reason: 'no | need @bob' }),
          disposition('k2w7', { kind: 'moved', by: person, target: '#34' }),
        ],
      },
      { code: 'opened', id: 'c3f9' },
    ]);
    expect(text).toContain(
      '- `t5m2` is now **waived**: no \\| need @\u200Bbob\n- `k2w7` is now **moved to #34**',
    );
    expect(text).toContain('- `c3f9` is **open** again');
    expect(text).toContain('Still open: `k2w7`, `t5m2`.');
  });

  it('tells what happens when nothing is open any more, by the state of the task', () => {
    const set: Outcome[] = [{ code: 'set', left: 2, dispositions: [disposition('t5m2')] }];
    expect(answer(set, { state: 'closing' }, [])).toContain('a last look');
    expect(answer(set, { state: 'parked' }, [])).toContain('`/lane resume` goes on');
    expect(answer(set, { state: 'running' }, [])).toContain('once the run has ended');
    expect(answer(set)).toContain('2 proposals were not accepted');
  });

  it('to status tells how far a run is, in words that are only words', () => {
    const status: Outcome[] = [{ code: 'status' }];
    expect(answer(status, { state: 'running', run: 2 })).toContain('**running**, run 2.\n');
    const text = answer(status, { state: 'running', run: 2, progress: `*3* of 5, @bob ${secret}` });
    expect(text).toContain('run 2. Its worker says: \\*3\\* of 5, @\u200Bbob');
    expect(text).not.toContain(secret);
  });

  it.each([
    '/lane frobnicate',
    '/lane waive',
    '/lane waive c3f9',
    '/lane met c3f9',
    '/lane moved c3f9',
    '/lane superseded c3f9',
    '/lane accept c3f9',
    '/lane park',
  ])('of "%s" says what is wrong and how it is written', (line) => {
    const text = answer(problem(line));
    expect(text).toContain(`\`${line}\``);
    expect(text).toMatch(/It is written `\/lane |`\/lane help` shows them all/);
  });

  it('every other refusal is one sentence or two, and never empty', () => {
    const refusals: Outcome[] = [
      ...problem('/lane status\n'.repeat(21)),
      ...problem(`/lane park ${'x'.repeat(5_000)}`),
      ...problem(`${'> '.repeat(9_000)}\n\n/lane status`),
      { code: 'no_task', last: 'The label was set by @someone.' },
      { code: 'ended', state: 'complete' },
      { code: 'not_parked', state: 'running' },
      { code: 'already_held' },
      { code: 'nothing_to_accept' },
      { code: 'unknown_id', id: 'c3`f8', near: ['c3f9'] },
      { code: 'unknown_id', id: 'zz', near: [] },
      { code: 'ambiguous_label', id: 'AC-1', ids: ['aa', 'bb'] },
      { code: 'already_open', id: 'aa' },
      { code: 'same_issue', id: 'aa' },
      { code: 'same_criterion', id: 'aa' },
      { code: 'target_missing', issue: 3 },
      { code: 'target_closed', issue: 3 },
      { code: 'changed_meanwhile' },
      { code: 'cancelled' },
    ];
    const texts = refusals.map((one) => answer([one]));
    for (const text of texts) {
      expect(text.trim()).toMatch(/^\S[^\n]{20,500}[.?]$/);
      expect(text).not.toMatch(/undefined|@someone|(?:close[sd]?|fix\w*|resolve[sd]?):?\s+#\d/i);
    }
    expect(new Set(texts).size).toBe(refusals.length);
  });

  it('status tells the state, what is open and the latest decision, also without a task', () => {
    for (const state of ['queued', 'running', 'parked', 'closing'] as const) {
      const text = answer([{ code: 'status' }], { state });
      expect(text).toContain(`**${state}**`);
      expect(text).toContain('2 of 4 criteria are open: `k2w7`, `t5m2`.');
    }
    expect(answer([{ code: 'status', last: 'Too few rights.' }], null)).toContain(
      'The latest decision: Too few rights.',
    );
    expect(answer([{ code: 'status' }], { criteria: [] }, [])).toContain('no acceptance criteria yet');
  });

  it('help shows every command', () => {
    const text = answer([{ code: 'help' }]);
    for (const verb of verbs) expect(text).toContain(`| \`${verbHelp[verb].usage}\` |`);
  });

  it('redacts and neutralises what it repeats, and fits into a comment', () => {
    const hostile = `${secret} @victim <!-- x --> ![p](https://t.example)`;
    const many = Array.from({ length: 400 }, (_, n) =>
      disposition(`c${n}`, { kind: 'waived', reason: hostile.repeat(30) }),
    );
    const text = answer([
      { code: 'set', left: 0, dispositions: many },
      ...Array.from(
        { length: 20 },
        (): Outcome => ({ code: 'problem', line: hostile, problem: 'unknown_verb' }),
      ),
    ]);
    expect(text).not.toMatch(/a webhook secret|@victim|<!--|!\[p\]/);
    expect(text).toContain('… and 350 more verdicts.');
    expect(text.length).toBeLessThanOrEqual(60_000);
  });
});
