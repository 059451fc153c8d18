import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Criterion } from '../../../lanes/records/criteria.ts';
import { closingKinds, type Disposition, openKinds } from '../../../lanes/records/dispositions.ts';
import { gate } from '../../../lanes/rules/gate.ts';
import { byAlice, criterion, met } from '../../support/tasks.ts';

const verified = { proof: 'verified' } as const;

describe('the gate', () => {
  it('closes as completed when every criterion is met with proof', () => {
    const answer = gate({ criteria: [criterion('c1')], dispositions: { c1: met('c1') }, ...verified });
    expect(answer).toEqual({ close: true, stateReason: 'completed' });
  });

  it('closes as not planned when nothing is met', () => {
    const answer = gate({
      criteria: [criterion('c1')],
      dispositions: { c1: byAlice('c1', 'waived') },
      ...verified,
    });
    expect(answer).toEqual({ close: true, stateReason: 'not_planned' });
  });

  it('never closes without criteria, nor with more than 200', () => {
    expect(gate({ criteria: [], dispositions: {}, ...verified })).toMatchObject({ reason: 'no_criteria' });
    const many = Array.from({ length: 201 }, (_, i) => criterion(`c${i}`));
    const dispositions = Object.fromEntries(many.map(({ id }) => [id, byAlice(id, 'met')]));
    expect(gate({ criteria: many, dispositions, ...verified })).toMatchObject({
      reason: 'too_many_criteria',
    });
  });

  it('says of each open criterion why it is open', () => {
    const criteria = ['none', 'old', 'no', 'weak'].map((id) =>
      criterion(id, id === 'old' ? { revision: 2 } : {}),
    );
    criteria.push(criterion('gone', { removed: true }));
    const weak = met('weak', { evidence: [] });
    const dispositions = { old: met('old'), no: byAlice('no', 'partial'), weak };
    expect(gate({ criteria, dispositions, ...verified })).toEqual({
      close: false,
      reason: 'criteria_open',
      open: [
        { criterion: 'none', why: 'no_disposition' },
        { criterion: 'old', why: 'stale' },
        { criterion: 'no', why: 'not_closing' },
        { criterion: 'weak', why: 'unverified' },
        { criterion: 'gone', why: 'removed_without_disposition' },
      ],
    });
  });

  it('names proof as the reason when only proof is missing', () => {
    const answer = gate({
      criteria: [criterion('c1')],
      dispositions: { c1: met('c1', { evidence: [] }) },
      ...verified,
    });
    expect(answer).toMatchObject({ close: false, reason: 'proof_unverified' });
  });

  it.each([
    ['a file', { kind: 'file', path: 'a.ts' }],
    ['a commit', { kind: 'commit', sha: 'abcdef1' }],
    ['an address', { kind: 'url', url: 'https://example.org' }],
    ['a statement', { kind: 'statement', text: 'trust me' }],
  ] as const)("%s alone, though verified, does not make an agent's met verified", (_name, evidence) => {
    const claim = met('c1', { evidence: [{ evidence, standing: 'verified', how: '' }] });
    const input = { criteria: [criterion('c1')], dispositions: { c1: claim } };
    expect(gate({ ...input, proof: 'verified' })).toMatchObject({ close: false, reason: 'proof_unverified' });
    expect(gate({ ...input, proof: 'asserted' })).toMatchObject({ close: true });
  });

  it('does not take a verdict from the prototype of an object', () => {
    const answer = gate({ criteria: [criterion('constructor')], dispositions: {}, ...verified });
    expect(answer).toMatchObject({ open: [{ criterion: 'constructor', why: 'no_disposition' }] });
  });
});

const anyCriterion = (id: string): fc.Arbitrary<Criterion> =>
  fc
    .record({ revision: fc.integer({ min: 1, max: 3 }), removed: fc.boolean() })
    .map((more) => criterion(id, more));
const anyDisposition = (id: string): fc.Arbitrary<Disposition> =>
  fc
    .record({
      kind: fc.constantFrom(...closingKinds, ...openKinds),
      revision: fc.integer({ min: 1, max: 3 }),
      person: fc.boolean(),
      standing: fc.constantFrom('verified', 'asserted'),
      evidence: fc.constantFrom('check', 'file', 'none'),
    })
    .map(({ kind, revision, person, standing, evidence }) => {
      const thing =
        evidence === 'check' ? { kind: evidence, name: 'u' } : { kind: 'file' as const, path: 'p' };
      const weighed = evidence === 'none' ? [] : [{ evidence: thing, standing, how: '' }];
      const judged = { kind, revision, evidence: weighed };
      return person ? byAlice(id, kind, judged) : met(id, judged);
    });
const ids = ['a', 'b', 'c', 'd'];
const anyInput = fc
  .record({
    criteria: fc.tuple(...ids.map(anyCriterion)),
    dispositions: fc.tuple(...ids.map((id) => fc.option(anyDisposition(id), { nil: undefined }))),
    count: fc.integer({ min: 0, max: ids.length }),
    proof: fc.constantFrom('verified' as const, 'asserted' as const),
  })
  .map(({ criteria, dispositions, count, proof }) => ({
    criteria: criteria.slice(0, count),
    dispositions: Object.fromEntries(dispositions.flatMap((one) => (one ? [[one.criterion, one]] : []))),
    proof,
  }));

/** The design's words, written a second time and in another way: what lets one criterion go. */
function letsGo(item: Criterion, verdict: Disposition | undefined, proof: string): boolean {
  const fits = verdict !== undefined && verdict.revision === item.revision;
  if (!fits || (openKinds as readonly string[]).includes(verdict.kind)) return false;
  if (verdict.by.kind === 'person') return true;
  const checks = verdict.evidence.filter(
    (one) => one.evidence.kind === 'check' && one.standing === 'verified',
  );
  return verdict.kind === 'met' && (proof === 'asserted' ? verdict.evidence.length : checks.length) > 0;
}

describe('whatever is put together', () => {
  it('closes exactly when every criterion, removed or not, has a closing verdict that fits it', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const all = input.criteria.map((item) => letsGo(item, input.dispositions[item.id], input.proof));
        expect(gate(input).close).toBe(all.length > 0 && all.every(Boolean));
      }),
      { numRuns: 3_000 },
    );
  });

  it('lists every criterion that is open, and no other', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const answer = gate(input);
        if (answer.close) return;
        const open = input.criteria.filter((item) => !letsGo(item, input.dispositions[item.id], input.proof));
        expect(answer.open.map((item) => item.criterion)).toEqual(open.map(({ id }) => id));
      }),
    );
  });

  it('gives completed as the reason exactly when one criterion at least is met', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const answer = gate(input);
        if (!answer.close) return;
        const met = input.criteria.some(({ id }) => input.dispositions[id]?.kind === 'met');
        expect(answer.stateReason).toBe(met ? 'completed' : 'not_planned');
      }),
      { numRuns: 2_000 },
    );
  });
});
