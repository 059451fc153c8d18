import { expect, test } from 'vitest';
import { makeLoop } from '../../app/loop.ts';

test('a loop goes on after a failure, comes at once when kicked, and ends with its present round', async () => {
  const seen: string[] = [];
  let kicked = (): void => {};
  const second = new Promise<void>((resolve) => {
    kicked = resolve;
  });
  const loop = makeLoop(
    async () => {
      seen.push('round');
      if (seen.length === 1) throw new Error('once');
      kicked();
    },
    3_600_000,
    () => {
      seen.push('told');
      queueMicrotask(() => loop.kick());
    },
  );
  loop.start();
  loop.start();
  await second;
  await loop.stop();
  expect(seen).toEqual(['round', 'told', 'round']);
});
