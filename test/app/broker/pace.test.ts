import { expect, test } from 'vitest';
import { makePace } from '../../../app/broker/pace.ts';

function clocked() {
  let nowMs = 1_000_000;
  const slept: number[] = [];
  const pace = makePace({
    now: () => nowMs,
    sleep: async (ms) => {
      slept.push(ms);
      nowMs += ms;
    },
  });
  return { pace, slept, pass: (ms: number) => (nowMs += ms), now: () => nowMs };
}

test('writes of one installation are a second apart, those of another do not wait', async () => {
  const { pace, slept, pass } = clocked();
  await pace.turn(1);
  await pace.turn(2);
  expect(slept).toEqual([]);
  await pace.turn(1);
  expect(slept[0]).toBeGreaterThanOrEqual(1_000);
  pass(2_000);
  await pace.turn(1);
  expect(slept).toHaveLength(1);
});

test('without a named time the silence is a minute, doubling up to an hour, until a write goes through', () => {
  const { pace, pass, now } = clocked();
  const silences: number[] = [];
  for (let n = 0; n < 8; n += 1) {
    pace.limit(1, null);
    silences.push(pace.limitedUntilMs(1) - now());
    pass(silences.at(-1) ?? 0);
  }
  expect(silences.map((ms) => ms / 60_000)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  pace.succeeded(1);
  pace.limit(1, null);
  expect(pace.limitedUntilMs(1) - now()).toBe(60_000);
  expect(pace.limitedUntilMs(2)).toBe(0);
});

test('a named time is kept, and an earlier one does not shorten it', () => {
  const { pace, now } = clocked();
  pace.limit(1, now() + 30_000);
  pace.limit(1, now() + 1_000);
  expect(pace.limitedUntilMs(1) - now()).toBe(30_000);
});
