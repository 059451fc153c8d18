import { describe, expect, it } from 'vitest';
import type { IssueRecord } from '../../../../lanes/records/issues.ts';
import type { Task } from '../../../../lanes/records/tasks.ts';
import { type Command, parseCommands, planCommand } from '../../../../lanes/rules/commands/index.ts';
import { criterion, disposition, makeTask } from '../../../app/broker/note/support.ts';

const actor = { login: 'bob', id: 8 };
const nowMs = 1_800_000_000_000;
const person = { kind: 'person', person: actor } as const;

const record: IssueRecord = {
  issue: { installation: 11, repositoryId: 22, repository: 'acme/app', number: 12 },
  version: 1,
  waiting: [],
  criteria: [],
  minted: 0,
  dispositions: {},
  decisions: [
    {
      atMs: 1,
      source: 'scan',
      event: 'labeled',
      verdict: 'refuse',
      reason: 'not_permitted',
      text: 'Too few rights.',
    },
  ],
};

function command(line: string): Command {
  const [parsed] = parseCommands(line);
  if (parsed?.ok !== true) throw new Error(`not a command: ${line}`);
  return parsed.command;
}

function plan(line: string, task: Partial<Task> | null = {}): ReturnType<typeof planCommand> {
  return planCommand({
    task: task === null ? null : makeTask(task),
    record,
    command: command(line),
    actor,
    nowMs,
  });
}

const base = { revision: 1, by: person, evidence: [], atMs: nowMs };

describe('a verdict by a person', () => {
  it.each([
    ['/lane waive t5m2 no need', { kind: 'waived', reason: 'no need' }],
    ['/lane na t5m2 no need', { kind: 'not_applicable', reason: 'no need' }],
    ['/lane withdraw t5m2 no need', { kind: 'withdrawn', reason: 'no need' }],
    ['/lane superseded t5m2 c3f9', { kind: 'superseded', target: 'c3f9' }],
    ['/lane superseded t5m2 AC-1 same thing', { kind: 'superseded', target: 'c3f9', reason: 'same thing' }],
  ])('%s', (line, verdict) => {
    expect(plan(line)).toEqual({
      kind: 'dispose',
      dispositions: { t5m2: { ...base, criterion: 't5m2', ...verdict } },
      checks: [],
    });
  });

  it('met keeps the evidence as asserted, by that person', () => {
    expect(plan('/lane met T5M2 check:unit I saw it')).toEqual({
      kind: 'dispose',
      dispositions: {
        t5m2: {
          ...base,
          criterion: 't5m2',
          kind: 'met',
          evidence: [
            { evidence: { kind: 'check', name: 'unit' }, standing: 'asserted', how: 'said by bob' },
            { evidence: { kind: 'statement', text: 'I saw it' }, standing: 'asserted', how: 'said by bob' },
          ],
        },
      },
      checks: [],
    });
  });

  it('moved waits for the App to see that the issue is open, superseded that it exists', () => {
    expect(plan('/lane moved t5m2 #34')).toMatchObject({
      dispositions: { t5m2: { kind: 'moved', target: '#34' } },
      checks: [{ criterion: 't5m2', issue: 34, mustBeOpen: true }],
    });
    expect(plan('/lane superseded t5m2 #34')).toMatchObject({
      checks: [{ criterion: 't5m2', issue: 34, mustBeOpen: false }],
    });
  });

  it('is given on the revision that the criterion has now, removed or not', () => {
    const criteria = [criterion('c3f9', 'reworded', { revision: 5, removed: true })];
    expect(plan('/lane waive c3f9 gone', { criteria })).toMatchObject({
      dispositions: { c3f9: { revision: 5 } },
    });
  });

  it('is refused for the same issue and the same criterion', () => {
    expect(plan('/lane moved t5m2 #12')).toEqual({ kind: 'answer', code: 'same_issue', id: 't5m2' });
    expect(plan('/lane superseded t5m2 t5m2')).toEqual({
      kind: 'answer',
      code: 'same_criterion',
      id: 't5m2',
    });
    expect(plan('/lane superseded t5m2 zzzz')).toMatchObject({ code: 'unknown_id', id: 'zzzz' });
  });

  it('of an unknown criterion suggests what is near', () => {
    expect(plan('/lane waive c3f8 no')).toEqual({
      kind: 'answer',
      code: 'unknown_id',
      id: 'c3f8',
      near: ['c3f9'],
    });
    expect(plan('/lane waive AC-2 no')).toEqual({
      kind: 'answer',
      code: 'unknown_id',
      id: 'AC-2',
      near: ['AC-1'],
    });
    expect(plan('/lane waive completely-else no')).toMatchObject({ near: [] });
    expect(plan('/lane waive constructor no')).toMatchObject({ code: 'unknown_id' });
  });

  it('finds a criterion by its label only where one has it', () => {
    const criteria = [
      criterion('aaaa', 'one', { label: 'AC-1' }),
      criterion('bbbb', 'two', { label: 'ac-1' }),
      criterion('cccc', 'three', { label: 'aaaa' }),
    ];
    expect(plan('/lane waive AC-1 no', { criteria })).toEqual({
      kind: 'answer',
      code: 'ambiguous_label',
      id: 'AC-1',
      ids: ['aaaa', 'bbbb'],
    });
    // An id wins over a label.
    expect(plan('/lane waive aaaa no', { criteria })).toMatchObject({ dispositions: { aaaa: {} } });
  });
});

describe('accept', () => {
  const proposals = [
    disposition('t5m2', { kind: 'not_applicable', reason: 'Linux only' }),
    disposition('k2w7', { kind: 'moved', target: '#34', reason: 'later' }),
    disposition('p8d4', { kind: 'superseded', target: 'c3f9' }),
  ];

  it("makes the agent's proposals the person's verdicts", () => {
    expect(plan('/lane accept', { proposals })).toEqual({
      kind: 'accept',
      dispositions: {
        t5m2: { ...base, criterion: 't5m2', kind: 'not_applicable', reason: 'Linux only' },
        k2w7: { ...base, criterion: 'k2w7', kind: 'moved', reason: 'later', target: '#34' },
        p8d4: {
          ...base,
          criterion: 'p8d4',
          kind: 'superseded',
          reason: 'proposed by the agent, accepted by bob',
          target: 'c3f9',
        },
      },
      left: [],
      checks: [{ criterion: 'k2w7', issue: 34, mustBeOpen: true }],
    });
  });

  it('leaves what does not fit: reworded since, without a target, of a criterion that is not there', () => {
    const unfit = [
      disposition('t5m2', { kind: 'waived', revision: 2 }),
      disposition('k2w7', { kind: 'moved' }),
      disposition('k2w7', { kind: 'moved', target: 'c3f9' }),
      disposition('p8d4', { kind: 'superseded', target: 'p8d4' }),
      disposition('zzzz', { kind: 'waived' }),
    ];
    const [fit] = proposals;
    if (fit === undefined) throw new Error('no proposal');
    expect(plan('/lane accept', { proposals: [...unfit, fit] })).toMatchObject({
      dispositions: { t5m2: { kind: 'not_applicable' } },
      left: unfit,
    });
    expect(plan('/lane accept', { proposals: unfit })).toEqual({ kind: 'answer', code: 'nothing_to_accept' });
    expect(plan('/lane accept', { proposals: [] })).toEqual({ kind: 'answer', code: 'nothing_to_accept' });
  });
});

describe('by the state of the task', () => {
  it('park holds any live task, and says so if it is held already', () => {
    for (const state of ['queued', 'running', 'parked', 'closing'] as const) {
      expect(plan('/lane park wait', { state })).toEqual({ kind: 'park', why: 'wait' });
    }
    expect(plan('/lane park wait', { reason: 'held' })).toEqual({ kind: 'answer', code: 'already_held' });
  });

  it('resume goes on with a parked task only', () => {
    expect(plan('/lane resume')).toEqual({ kind: 'resume' });
    expect(plan('/lane resume yes')).toEqual({ kind: 'resume', answer: 'yes' });
    for (const state of ['queued', 'running', 'closing'] as const) {
      expect(plan('/lane resume', { state })).toEqual({ kind: 'answer', code: 'not_parked', state });
    }
  });

  it('open takes a verdict back, and says so if there is none', () => {
    expect(plan('/lane open AC-1')).toEqual({ kind: 'open', id: 'c3f9' });
    expect(plan('/lane open t5m2')).toEqual({ kind: 'answer', code: 'already_open', id: 't5m2' });
  });

  it('an ended task answers status and help, nothing else', () => {
    for (const state of ['complete', 'cancelled'] as const) {
      for (const line of ['park x', 'resume', 'cancel', 'met c3f9 x', 'open c3f9', 'accept']) {
        expect(plan(`/lane ${line}`, { state })).toEqual({ kind: 'answer', code: 'ended', state });
      }
      expect(plan('/lane status', { state })).toEqual({
        kind: 'answer',
        code: 'status',
        last: 'Too few rights.',
      });
    }
  });

  it('without a task the answer tells the latest decision', () => {
    expect(plan('/lane resume', null)).toEqual({ kind: 'answer', code: 'no_task', last: 'Too few rights.' });
    expect(plan('/lane help', null)).toEqual({ kind: 'answer', code: 'help' });
    expect(plan('/lane cancel')).toEqual({ kind: 'cancel' });
  });
});
