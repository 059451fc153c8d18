import { describe, expect, it } from 'vitest';
import {
  causeOfDeath,
  causeOfEnding,
  type MemoryKills,
  type OwnerFacts,
  type SeenEnding,
} from '../../../lanes/rules/death.ts';

const unread: MemoryKills = { before: null, after: null };
const calm: MemoryKills = { before: 3, after: 3 };
const rose: MemoryKills = { before: 3, after: 4 };

describe('the cause of an end that the supervisor saw', () => {
  it.each<[string, SeenEnding, MemoryKills, string, string]>([
    ['exit 0', { kind: 'exit', code: 0 }, calm, 'exit', 'code 0'],
    ['exit 7', { kind: 'exit', code: 7 }, unread, 'exit', 'code 7'],
    [
      'exit 1 beside a memory kill, which may have been of a child',
      { kind: 'exit', code: 1 },
      rose,
      'exit',
      'code 1; memory kills in its control group rose from 3 to 4',
    ],
    ['SIGSEGV', { kind: 'signal', signal: 'SIGSEGV' }, calm, 'signal', 'SIGSEGV'],
    [
      'SIGKILL while the count of memory kills rose',
      { kind: 'signal', signal: 'SIGKILL' },
      rose,
      'out_of_memory',
      'SIGKILL; memory kills in its control group rose from 3 to 4',
    ],
    [
      'SIGKILL without one',
      { kind: 'signal', signal: 'SIGKILL' },
      calm,
      'unattributed',
      'SIGKILL, not by us, and no memory kill was counted',
    ],
    [
      'SIGKILL where nobody counts',
      { kind: 'signal', signal: 'SIGKILL' },
      unread,
      'unattributed',
      'SIGKILL, not by us; memory kills cannot be read here',
    ],
    ['a deadline', { kind: 'timeout', afterMs: 5 }, rose, 'timeout', 'after 5 ms'],
    ['a lost lease', { kind: 'stopped', why: 'lease_lost' }, unread, 'lease_lost', 'lease_lost'],
    ['a shutdown', { kind: 'stopped', why: 'shutdown' }, unread, 'stopped', 'shutdown'],
    ['no program', { kind: 'spawn_failed', why: 'ENOENT' }, unread, 'spawn_failed', 'ENOENT'],
  ])('%s', (_name, ending, memory, cause, detail) => {
    const found = causeOfEnding(ending, memory);
    expect(found).toMatchObject({ cause, detail });
    expect(found.exitCode).toBe(ending.kind === 'exit' ? ending.code : undefined);
  });
});

describe('the cause of a death that its supervisor did not live to record', () => {
  const owner = {
    ...{ uuid: 'u', instance: 'worker-a', pid: 12, startTime: '345', bootId: 'b1', pidNs: 'n' },
    machineId: 'm1',
  };
  const facts: OwnerFacts = {
    ...{ record: { owner }, bootIdNow: 'b1', machineIdNow: 'm1' },
    ...{ killIntentOfOurs: false, oomKill: null, ownerGone: null },
  };

  it.each<[string, Partial<OwnerFacts>, string, RegExp]>([
    ['another boot of the same machine', { bootIdNow: 'b2' }, 'host_reboot', /boot b1, now b2/],
    [
      'another boot, whatever else is known',
      { bootIdNow: 'b2', killIntentOfOurs: true, ownerGone: true },
      'host_reboot',
      /started again/,
    ],
    ['a kill of ours', { killIntentOfOurs: true, ownerGone: true }, 'supervisor_killed', /killed by us/],
    [
      'a process that is gone',
      { ownerGone: true },
      'supervisor_killed',
      /pid 12, started at 345\) is gone; no kill of ours/,
    ],
    ['a memory kill', { oomKill: true, ownerGone: true }, 'out_of_memory', /memory kill/],
    ['no memory kill, and a process that cannot be seen', { oomKill: false }, 'unattributed', /no record/],
    ['nothing more than a free lock', {}, 'unattributed', /holds its lock no more/],
    ['another machine', { machineIdNow: 'm2', bootIdNow: 'b2' }, 'unattributed', /another machine/],
    [
      'a machine without an id, where boots cannot be told apart from machines',
      { machineIdNow: 'unknown', record: { owner: { ...owner, machineId: 'unknown' } }, bootIdNow: 'b2' },
      'unattributed',
      /another machine/,
    ],
  ])('%s', (_name, more, cause, detail) => {
    const found = causeOfDeath({ ...facts, ...more });
    expect(found.cause).toBe(cause);
    expect(found.detail).toMatch(detail);
  });
});
