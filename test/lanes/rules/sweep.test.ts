import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Owner, ProcessIdentity } from '../../../lanes/records/copies.ts';
import { type CopyFacts, judgeOwner, nextStep, type OwnerJudgement } from '../../../lanes/rules/sweep.ts';

const us: ProcessIdentity = { pid: 1, startTime: '9', bootId: 'boot', pidNs: 'ns', machineId: 'here' };
const owner: Owner = { ...us, pid: 42, startTime: '5', uuid: 'u', instance: 'worker-a' };
const judge = (changes: Partial<Owner>, startTime: string | null, ours: Partial<ProcessIdentity> = {}) =>
  judgeOwner({ owner: { ...owner, ...changes }, fsType: 'ext4' }, { ...us, ...ours }, startTime).kind;

describe('the recorded owner', () => {
  it('is alive where its process is there under its start time', () => {
    expect(judge({}, '5')).toBe('alive');
  });

  it('is dead where its number is free, another process’s, or of another boot', () => {
    expect(judge({}, null)).toBe('dead');
    expect(judge({}, '6')).toBe('dead');
    expect(judge({ bootId: 'earlier' }, '5')).toBe('dead');
    expect(judgeOwner({ owner: { ...owner, bootId: 'earlier' }, fsType: 'xfs' }, us, null)).toMatchObject({
      rebooted: true,
    });
  });

  it('of another pid namespace is judged by the lock alone: its number means nothing here', () => {
    expect(judge({ pidNs: 'other' }, '5')).toBe('dead');
    expect(judge({ pidNs: 'other' }, null)).toBe('dead');
  });

  it('of another machine is unknown, whatever else fits', () => {
    expect(judge({ machineId: 'there' }, null)).toBe('unknown');
    expect(judge({ machineId: 'unknown' }, null)).toBe('unknown');
    expect(judge({ machineId: 'there', bootId: 'earlier' }, null)).toBe('unknown');
  });

  it('of a machine without an id is known within one boot only', () => {
    const nameless = { machineId: 'unknown' };
    expect(judge(nameless, null, nameless)).toBe('dead');
    expect(judge({ ...nameless, bootId: 'earlier' }, null, nameless)).toBe('unknown');
  });

  it('is unknown on a file system where locks prove nothing', () => {
    expect(judgeOwner({ owner, fsType: 'nfs' }, us, null).kind).toBe('unknown');
  });

  it('without a start time is unknown as long as its number is in use', () => {
    expect(judge({ startTime: 'unknown' }, '5')).toBe('unknown');
    expect(judge({ startTime: 'unknown' }, null)).toBe('dead');
  });
});

const dead: OwnerJudgement = { kind: 'dead', why: 'dead', rebooted: false };
const facts = fc.record({
  entry: fc.constantFrom('published', 'unpublished', 'dead'),
  lock: fc.constantFrom('ours', 'busy', 'missing'),
  fsType: fc.constantFrom('ext4', 'tmpfs', 'nfs', '26985'),
  record: fc.option(
    fc.record({
      state: fc.constantFrom('creating', 'ready', 'running', 'captured', 'deleting'),
      agentStarted: fc.boolean(),
    }),
  ),
  owner: fc.option(
    fc.oneof(fc.constant(dead), fc.record({ kind: fc.constantFrom('alive', 'unknown'), why: fc.string() })),
  ),
  checkout: fc.constantFrom('work', 'grave', 'both', 'none'),
  agentAlive: fc.boolean(),
  saved: fc.constantFrom('result', 'salvage', null),
  unsaved: fc.option(fc.string()),
  tombstone: fc.constantFrom('intent', 'done', 'unreadable', null),
  quarantine: fc.option(fc.string()),
}) as fc.Arbitrary<CopyFacts>;

const keeps = new Set(['skip_live', 'report', 'conflict', 'quarantine', 'keep_quarantined']);
const changes = (one: CopyFacts) => !keeps.has(nextStep(one).step);
const runs = { numRuns: 3_000 };

describe('the next step', () => {
  it('removes only under a held lock, from a dead owner, with a finished capture or nothing ever started', () => {
    fc.assert(
      fc.property(facts, (one) => {
        if (nextStep(one).step !== 'remove') return;
        expect(one).toMatchObject({ entry: 'published', lock: 'ours', owner: dead, agentAlive: false });
        expect(one).toMatchObject({ quarantine: null, tombstone: null });
        const nothing = one.record?.state === 'creating' && !one.record.agentStarted;
        expect(one.saved !== null || nothing).toBe(true);
      }),
      runs,
    );
  });

  it('goes on with a removal only under a held lock, after a durable intent', () => {
    fc.assert(
      fc.property(facts, (one) => {
        if (nextStep(one).step !== 'resume_removal') return;
        expect(one).toMatchObject({ lock: 'ours', owner: dead, agentAlive: false, quarantine: null });
        expect(['intent', 'done']).toContain(one.tombstone);
      }),
      runs,
    );
  });

  it('keeps whatever is unknown, alive, locked or in quarantine', () => {
    fc.assert(
      fc.property(facts, (one) => {
        const locked = one.lock === 'busy' || !['ext4', 'tmpfs'].includes(one.fsType);
        const owned = one.entry !== 'dead' && one.owner !== null && one.owner.kind !== 'dead';
        const unknown = one.entry === 'published' && (one.lock === 'missing' || !one.record || !one.owner);
        const set = one.entry === 'published' && one.quarantine !== null;
        if (locked || owned || unknown || set) expect(changes(one)).toBe(false);
      }),
      runs,
    );
  });

  it('clears a folder in ctl/ that is no copy only where no file of it is left', () => {
    fc.assert(
      fc.property(facts, (one) => {
        if (!/^clear/.test(nextStep(one).step)) return;
        expect(one.checkout).toBe('none');
        expect(one.entry).not.toBe('published');
      }),
      runs,
    );
  });

  it('salvages a copy that was ready: its agent may have started before that was noted', () => {
    const ready: CopyFacts = {
      ...{ entry: 'published', lock: 'ours', fsType: 'ext4', owner: dead, checkout: 'work' },
      ...{ agentAlive: false, saved: null, unsaved: null, tombstone: null, quarantine: null },
      record: { state: 'ready', agentStarted: false },
    };
    expect(nextStep(ready).step).toBe('salvage');
    expect(nextStep({ ...ready, record: { state: 'creating', agentStarted: false } }).step).toBe('remove');
    expect(nextStep({ ...ready, record: { state: 'creating', agentStarted: true } }).step).toBe('salvage');
    expect(nextStep({ ...ready, agentAlive: true }).step).toBe('end_agent');
    expect(nextStep({ ...ready, checkout: 'both' }).step).toBe('quarantine');
  });
});
