import { describe, expect, it } from 'vitest';
import { judgeFileSystem, judgeMode, judgeRoom } from '../../../app/doctor/data-dir.ts';
import { ok, warn, worst } from '../../../app/doctor/finding.ts';
import {
  judgeContainment,
  judgeGit,
  judgeNode,
  judgeOrphans,
  judgeProc,
  judgeTools,
  type MachineFacts,
} from '../../../app/doctor/judge-machine.ts';
import { judgeRedis } from '../../../app/doctor/judge-redis.ts';

const good: MachineFacts = {
  ...{ node: 'v20.19.0', git: 'git version 2.39.5', levels: ['bwrap', 'unshare', 'cgroup', 'none'] },
  tools: { bwrap: true, flock: true, setpriv: true, unshare: true },
  ...{ settings: {}, proc: 'whole', lanes: { required: true, without: false } },
};
const facts = (changes: Partial<MachineFacts>): MachineFacts => ({ ...good, ...changes });
const without = { required: false, without: true };

describe('the machine', () => {
  it.each([
    ['v20.18.3', 'fail'],
    ['v20.19.0', 'ok'],
    ['v21.7.0', 'fail'],
    ['v22.11.0', 'fail'],
    ['v22.12.0', 'ok'],
    ['v24.0.0', 'ok'],
  ])('Node %s: %s', (version, verdict) => expect(judgeNode(version).verdict).toBe(verdict));

  it.each([
    [null, 'fail'],
    ['git version 2.20.1', 'fail'],
    ['git version 2.30.2', 'warn'],
    ['git version 2.39.5', 'ok'],
    ['git version 3.0.0', 'ok'],
  ])('%s: %s', (version, verdict) => expect(judgeGit(version).verdict).toBe(verdict));

  it('no flock fails, no setpriv is a warning', () => {
    expect(judgeTools(good).verdict).toBe('ok');
    expect(judgeTools(facts({ tools: { ...good.tools, flock: false } })).verdict).toBe('fail');
    const weaker = judgeTools(facts({ tools: { ...good.tools, setpriv: false } }));
    expect(weaker).toMatchObject({ verdict: 'warn', evidence: 'not found: setpriv' });
  });

  it('no containment fails where a lane requires it, and warns where none does', () => {
    const levels = ['cgroup', 'none'] as const;
    expect(judgeContainment(good)).toMatchObject({ verdict: 'ok', better: null });
    expect(judgeContainment(facts({ levels })).verdict).toBe('fail');
    expect(judgeContainment(facts({ levels, lanes: without })).verdict).toBe('warn');
  });

  it('what stands in the way of a better level is named', () => {
    const tools = { ...good.tools, bwrap: false };
    const unshare = judgeContainment(facts({ levels: ['unshare', 'none'], tools }));
    expect(unshare).toMatchObject({ verdict: 'ok', better: 'Install bubblewrap 0.8 or later.' });
    const settings = { 'user.max_user_namespaces': '0', 'kernel.unprivileged_userns_clone': '0' };
    const { evidence, better } = judgeContainment(facts({ levels: ['none'], settings }));
    expect(evidence).toContain('user.max_user_namespaces=0');
    expect(better).toMatch(/kernel\.unprivileged_userns_clone=1.*user\.max_user_namespaces above 0/);
  });

  it('agents without containment are surely ended through a control group only', () => {
    expect(judgeOrphans(facts({ lanes: without })).verdict).toBe('ok');
    const none = judgeOrphans(facts({ levels: ['bwrap', 'none'], lanes: without }));
    expect(none).toMatchObject({ verdict: 'warn', better: expect.stringContaining('Delegate=yes') });
    expect(judgeOrphans(facts({ levels: ['bwrap', 'none'] })).verdict).toBe('ok');
  });

  it('a /proc that hides processes is a warning, one of another namespace fails', () => {
    const verdicts = (['whole', 'hidden_processes', 'other_namespace'] as const).map((proc) =>
      judgeProc(facts({ proc })),
    );
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['ok', 'warn', 'fail']);
  });
});

describe('the data directory', () => {
  it('is private, and ours', () => {
    expect(judgeMode('/d', 0o40700, 5, 5).verdict).toBe('ok');
    expect(judgeMode('/d', 0o40755, 5, 5)).toMatchObject({ verdict: 'fail', better: 'Run: chmod 700 /d' });
    expect(judgeMode('/d', 0o40700, 0, 5).verdict).toBe('fail');
  });

  it('lies where flock is the kernel’s', () => {
    expect(judgeFileSystem(0xef53)).toMatchObject({ verdict: 'ok', evidence: 'ext4' });
    expect(judgeFileSystem(0x6969)).toMatchObject({
      verdict: 'fail',
      evidence: expect.stringContaining('0x6969'),
    });
  });

  it('has room', () => {
    const verdicts = [50e6, 500e6, 5e9].map((bytes) => judgeRoom(bytes).verdict);
    expect(verdicts).toEqual(['fail', 'warn', 'ok']);
  });
});

describe('Redis', () => {
  const facts = { version: '7.0.15', appendOnly: true, appendFsync: 'always', maxMemoryPolicy: 'noeviction' };
  const verdicts = (changes: Partial<typeof facts> | { appendFsync: null }, anybody = false) =>
    Object.fromEntries(
      judgeRedis({ ...facts, ...changes }, anybody).map(({ check, verdict }) => [check, verdict]),
    );

  it('is good with everything on disk, nothing evicted and nobody let in', () => {
    expect(new Set(Object.values(verdicts({})))).toEqual(new Set(['ok']));
  });

  it.each([
    ['redis durability', { appendOnly: false }],
    ['redis durability', { appendFsync: 'everysec' }],
    ['redis durability', { appendFsync: null }],
    ['redis memory', { maxMemoryPolicy: 'allkeys-lru' }],
  ])('%s: a warning with %o', (check, changes) =>
    expect(verdicts(changes)).toMatchObject({ [check]: 'warn' }),
  );

  it('a Redis that lets everybody in is a warning', () => {
    expect(verdicts({}, true)).toMatchObject({ 'redis users': 'warn' });
  });
});

it('the verdict is that of the worst finding', () => {
  expect(worst([])).toBe('ok');
  expect(worst([ok('a', ''), warn('b', '', '')])).toBe('warn');
});
