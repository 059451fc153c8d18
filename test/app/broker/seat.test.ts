import { expect, test } from 'vitest';
import { makeSeat } from '../../../app/broker/seat.ts';

test('a seat that another one has is not taken, and nothing is written without it', async () => {
  const seat = makeSeat({ take: async () => false, leave: async () => {} });
  expect(await seat.take()).toBe(false);
  expect(() => seat.demand()).toThrow(/another App delivers/);
});

test('a seat is asked for once, kept, and free once it was left', async () => {
  const asked: string[] = [];
  const seat = makeSeat({
    take: async () => asked.push('take') > 0,
    leave: async () => void asked.push('leave'),
  });
  expect([await seat.take(), await seat.take()]).toEqual([true, true]);
  expect(() => seat.demand()).not.toThrow();
  await seat.leave();
  await seat.leave();
  expect(() => seat.demand()).toThrow();
  expect(asked).toEqual(['take', 'leave']);
});
