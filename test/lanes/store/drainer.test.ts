import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Engine } from '../../../lanes/index.ts';
import { githubNamespace } from '../../../lanes/namespaces.ts';
import { testEngine } from '../../support/engine.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { callerNamed } from '../../support/tasks.ts';
import { until } from '../../support/until.ts';

let redis: TestRedis;
let engine: Engine;
const app = callerNamed('app', [githubNamespace]);
beforeAll(async () => {
  redis = await startTestRedis();
  engine = testEngine(redis.url);
});
afterAll(async () => {
  await engine.close();
  await redis.stop();
});

test('broker:github has one drainer: who has the place keeps it until it leaves', async () => {
  expect(await engine.drainer.take(app, 'one', 60_000)).toBe(true);
  expect(await engine.drainer.take(app, 'one', 60_000)).toBe(true);
  expect(await engine.drainer.take(app, 'two', 60_000)).toBe(false);
  await engine.drainer.leave(app, 'two');
  expect(await engine.drainer.take(app, 'two', 60_000)).toBe(false);
  await engine.drainer.leave(app, 'one');
  expect(await engine.drainer.take(app, 'two', 60_000)).toBe(true);
  await engine.drainer.leave(app, 'two');
});

test('the place of a drainer that died without leaving is free when its time has run out', async () => {
  expect(await engine.drainer.take(app, 'one', 50)).toBe(true);
  await until('it is free', () => engine.drainer.take(app, 'two', 60_000));
  expect(await engine.drainer.take(app, 'one', 50)).toBe(false);
});
