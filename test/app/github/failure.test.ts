import { expect, test } from 'vitest';
import { failureOf } from '../../../app/github/failure.ts';

const nowMs = 1_000_000;
const answer = (status: number, headers: Record<string, string> = {}, message = 'no') =>
  Object.assign(new Error(message), { status, response: { headers } });

test.each<[string, unknown, Record<string, unknown>]>([
  [
    'retry-after is waited for',
    answer(403, { 'retry-after': '30' }),
    { kind: 'limited', untilMs: nowMs + 30_000 },
  ],
  [
    'retry-after counts on 429',
    answer(429, { 'retry-after': '2' }),
    { kind: 'limited', untilMs: nowMs + 2_000 },
  ],
  [
    'the reset time is waited for when nothing remains',
    answer(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '5000' }),
    { kind: 'limited', untilMs: 5_000_000 },
  ],
  [
    'a reset time that is past does not mean at once',
    answer(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' }),
    { kind: 'limited', untilMs: nowMs + 1_000 },
  ],
  ['429 without a word names no time', answer(429), { kind: 'limited', untilMs: null }],
  [
    'the secondary limit is known by its words',
    answer(403, {}, 'You have exceeded a secondary rate limit.'),
    { kind: 'limited', untilMs: null },
  ],
  [
    '403 that is no limit is a refusal',
    answer(403, { 'x-ratelimit-remaining': '4999' }),
    { kind: 'forbidden' },
  ],
  ['404 is gone', answer(404), { kind: 'gone' }],
  ['410 is gone', answer(410), { kind: 'gone' }],
  ['422 will not get better', answer(422), { kind: 'invalid' }],
  ['401 may be a token that just ended', answer(401), { kind: 'doubt' }],
  ['502 may have happened', answer(502), { kind: 'doubt' }],
  ['no answer may have happened', new TypeError('fetch failed'), { kind: 'doubt' }],
  [
    'octokit’s 500 for a broken connection may have happened',
    Object.assign(new Error('socket hang up'), { status: 500 }),
    { kind: 'doubt' },
  ],
  ['what is no error at all is in doubt', undefined, { kind: 'doubt' }],
])('%s', (_title, error, expected) => {
  expect(failureOf(error, nowMs)).toMatchObject(expected);
});
