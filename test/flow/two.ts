/** Two Lanekeepers on one Redis, each with its own worker: together they do what one does. */
import { expect, test } from 'vitest';
import { startOwnRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { deliver } from './deliver.ts';
import { endsRight } from './end.ts';
import { openFlowStage } from './stage.ts';

export function two(): void {
  test('every delivery at both doors: one task, one note and one close for each issue', async (context) => {
    const redis = await startOwnRedis();
    context.onTestFinished(() => redis.stop());
    const stage = await openFlowStage(context);
    const { url: redisUrl } = redis;
    const other = await stage.start({ redisUrl });
    await stage.start({ redisUrl, worker: 'beta' });
    const issues: number[] = [];
    for (let n = 0; n < 4; n += 1) issues.push(await stage.running());
    for (const delivery of stage.github.deliveries())
      await deliver(delivery, `${other.url}/api/github/webhooks`);
    for (const issue of issues) stage.gate.release(issue);
    for (const issue of issues) await endsRight(stage, issue, { run: 1, runsUsed: 1 }, { redisUrl });
    const posts = stage.github.requests().filter(({ kind }) => kind === 'comment_post');
    const patches = stage.github.requests().filter(({ kind }) => kind === 'issue_patch');
    expect([posts.length, patches.length]).toEqual([issues.length, issues.length]);
  });

  test('the one that delivers is killed: the other one takes its seat', async (context) => {
    const redis = await startOwnRedis();
    context.onTestFinished(() => redis.stop());
    const stage = await openFlowStage(context);
    const { url: redisUrl } = redis;
    const first = await stage.start({ redisUrl });
    await stage.start({ redisUrl, worker: 'beta' });
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
