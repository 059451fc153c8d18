/** Two Lanekeepers on one Redis, each with its own worker: together they do what one does. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Lanekeeper } from '../demo/lanekeeper.ts';
import { type OwnRedis, startOwnRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { deliver } from './deliver.ts';
import { endsRight } from './end.ts';
import { useStage } from './stage.ts';

const once = { run: 1, runsUsed: 1 } as const;

export function two(): void {
  let redis: OwnRedis;
  let redisUrl: string;
  let first: Lanekeeper;
  beforeAll(async () => {
    redis = await startOwnRedis();
    redisUrl = redis.url;
  });
  const stageOf = useStage();
  afterAll(() => redis.stop());

  test.sequential('every delivery at both doors: one task, one note and one close for each issue', async () => {
    const stage = stageOf();
    first = await stage.start({ redisUrl });
    await stage.start({ redisUrl, worker: 'beta' });
    const issues = [await stage.running(), await stage.running(), await stage.running()];
    for (const delivery of stage.github.deliveries())
      await deliver(delivery, `${first.url}/api/github/webhooks`);
    for (const issue of issues) stage.gate.release(issue);
    for (const issue of issues) await endsRight(stage, issue, once, { redisUrl });
    expect(stage.github.counts()).toMatchObject({
      comment_post: issues.length,
      issue_patch: issues.length,
      reaction: issues.length,
    });
  });

  test.sequential('Redis is killed and back within the lease: the run goes on and completes', async () => {
    const stage = stageOf();
    const issue = await stage.running();
    await redis.kill();
    await redis.start();
    stage.gate.release(issue);
    await endsRight(stage, issue, once, { redisUrl });
  });

  test.sequential('the one that delivers is killed: the other one takes its seat', async () => {
    const stage = stageOf();
    const issue = await stage.running();
    const path = new RegExp(`/issues/${issue}/comments$`);
    const refused = stage.github.fault({ method: 'POST', path, kind: '502_before', times: 1_000 });
    stage.gate.release(issue);
    await until('it was tried', async () => refused.hits() > 0);
    first.kill('SIGKILL');
    await first.ended;
    refused.clear();
    await endsRight(stage, issue, {}, { redisUrl });
  });
}
