import { afterAll, beforeAll, expect, test } from 'vitest';
import { allMet, at, lanes, openIssue, ourComments, startWorld, type World, work } from '../world.ts';

let world: World;
const [triage] = lanes;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

test('a label leads to a closed issue with one complete note', async () => {
  if (!triage) throw new Error('no lane');
  const number = await openIssue(world, { labels: ['lane:triage'] });
  await world.settle();
  expect(world.failures).toEqual([]);
  expect((await world.task(number))?.state).toBe('queued');
  await work(world, triage.namespace, allMet);
  await world.settle();
  const { data } = await world.as.maria.issues.get(at(world, number));
  expect(data.state).toBe('closed');
  expect(data.state_reason).toBe('completed');
  const comments = await ourComments(world, number);
  expect(comments).toHaveLength(1);
  expect((await world.record(number))?.pointer).toBeUndefined();
});
