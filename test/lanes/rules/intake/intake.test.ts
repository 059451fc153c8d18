import { describe, expect, test } from 'vitest';
import { type IntakeInput, intake, screen, senderCounts } from '../../../../lanes/rules/intake/index.ts';
import { foundInstead, judgeReading } from '../../../../lanes/rules/intake/reading.ts';
import { reasons } from '../../../../lanes/rules/intake/reasons.ts';

const lane = { name: 'triage', allowBots: ['renovate'], onNoCriteria: 'park' } as const;
const good: IntakeInput = {
  sender: { login: 'maria', bot: false, ours: false },
  lane,
  pullRequest: false,
  repository: { listed: true, archived: false },
  permitted: true,
  narrowed: lane,
  issue: { open: true, locked: false, pullRequest: false, labelSet: true },
  live: null,
  reading: { kind: 'read', criteria: 2, placeholders: [], fallbackTasklist: [] },
};
const issue = good.issue;
const bot = { login: 'renovate[bot]', bot: true, ours: false };

describe('a label that was set', () => {
  test.each<[string, Partial<IntakeInput>, { kind: string; reason: string }]>([
    ['by a permitted person is admitted', {}, { kind: 'admit', reason: 'admitted' }],
    ['that is no lane’s is ignored', { lane: null }, { kind: 'ignore', reason: 'not_a_lane' }],
    [
      'by ourselves is ignored, also where a bot of our name is allowed',
      { sender: { login: 'renovate[bot]', bot: true, ours: true } },
      { kind: 'ignore', reason: 'own_event' },
    ],
    [
      'by a bot is ignored',
      { sender: { login: 'stale[bot]', bot: true, ours: false } },
      { kind: 'ignore', reason: 'bot' },
    ],
    [
      'by a bot that the lane allows is admitted without a permission',
      { sender: bot, permitted: false },
      { kind: 'admit', reason: 'admitted' },
    ],
    ['on a pull request is ignored', { pullRequest: true }, { kind: 'ignore', reason: 'pull_request' }],
    [
      'on what turned into a pull request is ignored',
      { issue: { ...issue, pullRequest: true } },
      { kind: 'ignore', reason: 'pull_request' },
    ],
    [
      'in a repository that is not listed is ignored',
      { repository: { listed: false, archived: false } },
      { kind: 'ignore', reason: 'repository_not_listed' },
    ],
    [
      'in an archived repository is refused',
      { repository: { listed: true, archived: true } },
      { kind: 'refuse', reason: 'not_writable' },
    ],
    [
      'where the file switches the lane off is ignored',
      { narrowed: null },
      { kind: 'ignore', reason: 'lane_off' },
    ],
    [
      'where the file is unreadable is refused',
      { narrowed: 'unknown' },
      { kind: 'refuse', reason: 'repository_file_broken' },
    ],
    [
      'and taken off again is ignored',
      { issue: { ...issue, labelSet: false } },
      { kind: 'ignore', reason: 'label_not_set' },
    ],
    [
      'by somebody not permitted is refused',
      { permitted: false },
      { kind: 'refuse', reason: 'not_permitted' },
    ],
    [
      'on a closed issue is refused',
      { issue: { ...issue, open: false } },
      { kind: 'refuse', reason: 'issue_closed' },
    ],
    [
      'on a locked issue is refused',
      { issue: { ...issue, locked: true } },
      { kind: 'refuse', reason: 'issue_locked' },
    ],
    ['while the same lane works is a duplicate', { live: 'triage' }, { kind: 'ignore', reason: 'duplicate' }],
    ['while another lane works is refused', { live: 'docs' }, { kind: 'refuse', reason: 'issue_busy' }],
    [
      'on an unreadable body parks',
      { reading: { kind: 'unreadable', why: 'too_deep' } },
      { kind: 'park', reason: 'unreadable_body' },
    ],
  ])('%s', (_title, change, expected) => {
    expect(intake({ ...good, ...change })).toMatchObject(expected);
  });

  test('is screened alike before anything was asked', () => {
    expect(screen(good)).toBeNull();
    expect(screen({ ...good, lane: null })).toEqual({ kind: 'ignore', reason: 'not_a_lane' });
  });
});

describe('a reading', () => {
  const read = { kind: 'read', criteria: 0, placeholders: [], fallbackTasklist: [] } as const;
  test('without criteria parks with what was found, one item a line', () => {
    const verdict = judgeReading({ ...read, fallbackTasklist: ['buy\nmilk', 'call'] }, 'park');
    expect(verdict).toEqual({ kind: 'park', reason: 'no_criteria', detail: 'buy milk\ncall' });
    expect(foundInstead('no_criteria', 'buy milk\ncall')).toEqual(['buy milk', 'call']);
    expect(foundInstead('held', 'wait')).toEqual([]);
  });
  test('with placeholders only parks for that', () => {
    expect(judgeReading({ ...read, placeholders: ['…'] }, 'park')).toMatchObject({
      reason: 'only_placeholders',
    });
  });
  test('without criteria is enough for a lane that runs all the same', () => {
    expect(judgeReading(read, 'run')).toEqual({ kind: 'usable' });
  });
  test('of 200 criteria is enough, of 201 too much, also for a lane that runs all the same', () => {
    expect(judgeReading({ ...read, criteria: 200 }, 'park')).toEqual({ kind: 'usable' });
    expect(judgeReading({ ...read, criteria: 201 }, 'run')).toMatchObject({ reason: 'too_many_criteria' });
  });
  test('keeps its detail within what a task can hold', () => {
    const items = Array.from({ length: 500 }, () => 'x'.repeat(100));
    const verdict = judgeReading({ ...read, fallbackTasklist: items }, 'park');
    expect(verdict.kind === 'park' && verdict.detail.length).toBeLessThanOrEqual(4_000);
  });
});

test('a bot is allowed with and without its suffix, in any case', () => {
  expect(senderCounts(bot, ['Renovate'])).toBe(true);
  expect(senderCounts(bot, ['renovate[bot]'])).toBe(true);
  expect(senderCounts(bot, ['renovate-2'])).toBe(false);
  expect(senderCounts({ login: 'maria', bot: false, ours: false }, [])).toBe(true);
});

test('every reason has its sentence', () => {
  for (const text of Object.values(reasons)) expect(text).toMatch(/^[A-Z].*\.$/);
});
