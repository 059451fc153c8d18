import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { laneSchema, type RepositoryFile, repositoryFileSchema } from '../../../lanes/records/config.ts';
import { effectiveLane, fillLane } from '../../../lanes/rules/lanes.ts';

const lane = fillLane(
  'fix',
  laneSchema.parse({
    agent: { kind: 'checks' },
    checks: { unit: { run: ['npm', 'test'] } },
    proof: 'asserted',
    onNoCriteria: 'run',
  }),
);
const file = (own: unknown): RepositoryFile => repositoryFileSchema.parse({ lanes: { fix: own } });

describe('a lane in a repository', () => {
  it('is as the operator made it where there is no file', () => {
    expect(effectiveLane(lane, null)).toEqual({ lane, instructions: undefined, proves: {} });
  });

  it('is off where the file does not name it', () => {
    expect(effectiveLane(lane, { lanes: {} })).toBeNull();
  });

  it('named after a member of every object is off too where the file does not name it', () => {
    expect(effectiveLane({ ...lane, name: 'constructor' }, { lanes: {} })).toBeNull();
  });

  it('takes label, words and narrower policies from the file', () => {
    const effective = effectiveLane(
      lane,
      file({ label: 'x', proof: 'verified', onNoCriteria: 'park', instructions: 'hi' }),
    );
    expect(effective).toMatchObject({
      lane: { label: 'x', proof: 'verified', onNoCriteria: 'park' },
      instructions: 'hi',
    });
  });

  it('maps criteria to checks that the operator has, and to no others', () => {
    const effective = effectiveLane(
      lane,
      file({ proves: { unit: ['AC-1'], other: ['*'], constructor: ['*'] } }),
    );
    expect(effective?.proves).toEqual({ unit: ['AC-1'] });
  });

  it('is never wider than the operator made it', () => {
    const own = fc.record(
      {
        label: fc.string({ minLength: 1, maxLength: 50 }),
        proof: fc.constant('verified' as const),
        onNoCriteria: fc.constant('park' as const),
        instructions: fc.string(),
        proves: fc.dictionary(fc.constantFrom('unit', 'lint'), fc.array(fc.string({ minLength: 1 }))),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        own,
        fc.constantFrom('verified', 'asserted'),
        fc.constantFrom('park', 'run'),
        (own, proof, onNo) => {
          const wide = { ...lane, proof, onNoCriteria: onNo } as const;
          const narrow = effectiveLane(wide, file(own))?.lane;
          expect({ ...narrow, label: '', proof: '', onNoCriteria: '' }).toEqual({
            ...wide,
            label: '',
            proof: '',
            onNoCriteria: '',
          });
          if (proof === 'verified') expect(narrow?.proof).toBe('verified');
          if (onNo === 'park') expect(narrow?.onNoCriteria).toBe('park');
        },
      ),
    );
  });
});
