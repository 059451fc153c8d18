import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Criterion } from '../../../lanes/records/criteria.ts';
import {
  closingKinds,
  dispositionKindSchema,
  dispositionSchema,
  type WeighedEvidence,
} from '../../../lanes/records/dispositions.ts';
import { type AgentDisposition, agentDispositionSchema } from '../../../lanes/records/result.ts';
import { boundNotices, judge } from '../../../lanes/rules/dispositions.ts';

const criteria: Criterion[] = ['aa', 'bb', 'cc'].map((id, index) => ({
  id,
  revision: index + 1,
  text: `text of ${id}`,
  checked: false,
  checkbox: true,
  depth: 0,
  removed: index === 2,
}));

const proved: WeighedEvidence[] = [
  { evidence: { kind: 'check', name: 'unit' }, standing: 'verified', how: 'passed' },
];

function judged(...said: (Partial<AgentDisposition> & { evidenceWeighed?: WeighedEvidence[] })[]) {
  const verdicts = said.map(({ evidenceWeighed, ...rest }) => ({
    said: { criterion: 'aa', disposition: 'met' as const, evidence: [], ...rest },
    evidence: evidenceWeighed ?? [],
  }));
  return judge({ verdicts, criteria, run: 3, nowMs: 77 });
}

describe('what an agent may set', () => {
  test('met with evidence is a disposition of the revision that was judged', () => {
    const { dispositions, proposals, notices } = judged({ criterion: 'bb', evidenceWeighed: proved });
    expect(dispositions).toEqual([
      {
        criterion: 'bb',
        revision: 2,
        kind: 'met',
        by: { kind: 'agent', run: 3 },
        evidence: proved,
        atMs: 77,
      },
    ]);
    expect([...proposals, ...notices]).toEqual([]);
  });

  test('met without evidence is kept for the gate to refuse, with a notice', () => {
    const { dispositions, notices } = judged({});
    expect(dispositions).toMatchObject([{ kind: 'met', evidence: [] }]);
    expect(notices).toHaveLength(1);
  });

  test.each(['not_met', 'partial', 'blocked', 'cannot_tell'] as const)('%s with a reason is set', (kind) => {
    expect(judged({ disposition: kind, reason: 'because' }).dispositions).toMatchObject([
      { kind, reason: 'because' },
    ]);
  });

  test.each(['not_met', 'partial', 'blocked', 'cannot_tell'] as const)(
    '%s without a reason counts as cannot_tell',
    (kind) => {
      const { dispositions, notices } = judged({ disposition: kind, reason: '  ' });
      expect(dispositions).toMatchObject([{ kind: 'cannot_tell' }]);
      expect(notices).toHaveLength(1);
    },
  );

  test('two verdicts on one criterion count as cannot_tell, whatever they say', () => {
    const { dispositions, proposals } = judged(
      { evidenceWeighed: proved },
      { evidenceWeighed: proved },
      { disposition: 'waived', reason: 'no time' },
    );
    expect(dispositions).toMatchObject([{ criterion: 'aa', kind: 'cannot_tell', evidence: [] }]);
    expect(proposals).toEqual([]);
  });

  test('an unknown criterion is ignored with a notice', () => {
    const judgement = judged({ criterion: '__proto__', evidenceWeighed: proved });
    expect(judgement.dispositions).toEqual([]);
    expect(judgement.notices).toHaveLength(1);
  });
});

describe('what an agent may only propose', () => {
  test.each([
    ['waived', { reason: 'why' }],
    ['not_applicable', { reason: 'why' }],
    ['withdrawn', { reason: 'why' }],
    ['moved', { target: '#12' }],
    ['superseded', { target: '#12' }],
    ['superseded', { target: 'bb' }],
  ] as const)('%s with what it needs is a proposal and no disposition', (disposition, rest) => {
    const judgement = judged({ disposition, ...rest });
    expect(judgement.proposals).toMatchObject([{ criterion: 'aa', kind: disposition }]);
    expect(judgement.dispositions).toEqual([]);
  });

  test.each([
    ['waived', {}],
    ['moved', { target: '12' }],
    ['moved', { target: 'bb' }],
    ['superseded', { target: 'aa' }],
    ['superseded', { target: 'zz' }],
  ] as const)('%s without what it needs is ignored with a notice', (disposition, rest) => {
    const judgement = judged({ disposition, ...rest });
    expect([...judgement.proposals, ...judgement.dispositions]).toEqual([]);
    expect(judgement.notices).toHaveLength(1);
  });
});

test('no result sets a closing verdict but met, or more than one verdict on a criterion', () => {
  const verdict = fc.record({
    criterion: fc.constantFrom('aa', 'bb', 'cc', 'zz'),
    disposition: fc.constantFrom(...dispositionKindSchema.options),
    reason: fc.constantFrom('', 'why'),
    target: fc.constantFrom('', '#1', 'bb', 'x'),
  });
  fc.assert(
    fc.property(fc.array(verdict, { maxLength: 8 }), (said) => {
      const verdicts = said.map((one) => ({ said: agentDispositionSchema.parse(one), evidence: proved }));
      const { dispositions, proposals } = judge({ verdicts, criteria, run: 1, nowMs: 0 });
      for (const one of [...dispositions, ...proposals]) expect(dispositionSchema.parse(one)).toEqual(one);
      const closing = dispositions.filter(({ kind }) => closingKinds.some((closes) => closes === kind));
      expect(closing.every(({ kind }) => kind === 'met')).toBe(true);
      const ids = [...dispositions, ...proposals].map(({ criterion }) => criterion);
      expect(new Set(ids).size).toBe(ids.length);
    }),
  );
});

test('notices are bounded in length and number, and the rest is counted', () => {
  const bounded = boundNotices(Array.from({ length: 250 }, () => 'x'.repeat(5_000)));
  expect(bounded).toHaveLength(100);
  expect(bounded.every((notice) => notice.length <= 1_000)).toBe(true);
  expect(bounded.at(-1)).toContain('151');
});
