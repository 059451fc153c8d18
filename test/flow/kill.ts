/** `kill -9` of each process while an agent runs: the run is made again, and the end is as if nothing had happened. */
import { expect, test } from 'vitest';
import { startOwnRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { endsRight } from './end.ts';
import { find, findAll } from './processes.ts';
import { openFlowStage } from './stage.ts';

export function killed(): void {
  test('the agent: its run counts as died, and the next one completes', async (context) => {
    const stage = await openFlowStage(context);
    const { pid } = await stage.start();
    const issue = await stage.running();
    process.kill(await find(pid, 'agent'), 'SIGKILL');
    stage.gate.release(issue);
    await endsRight(stage, issue, { run: 2, runsUsed: 2 });
  });

  test('the worker: its agent goes with it, and the lease ends by itself', async (context) => {
    const stage = await openFlowStage(context);
    const { pid } = await stage.start();
    const issue = await stage.running();
    const worker = await find(pid, 'worker');
    process.kill(worker, 'SIGKILL');
    await until('the agent goes with its worker', async () => stage.gate.waiting(issue).length === 0);
    stage.gate.release(issue);
    await endsRight(stage, issue, { run: 2, runsUsed: 2 });
    expect(await find(pid, 'worker')).not.toBe(worker);
    expect(await findAll(pid, 'agent')).toEqual([]);
  });

  test('the server: Redis, worker and agent end too, and a restart at once goes on', async (context) => {
    const stage = await openFlowStage(context);
    const first = await stage.start();
    const issue = await stage.running();
    first.kill('SIGKILL');
    expect(await first.ended).toBe('SIGKILL');
    await stage.start();
    await until('the agent goes with its server', async () => !stage.gate.waiting(issue).includes(1));
    stage.gate.release(issue);
    await endsRight(stage, issue, { run: 2, runsUsed: 2 });
  });

  test('the embedded Redis: it is started again, and the run goes on', async (context) => {
    const stage = await openFlowStage(context);
    const { pid } = await stage.start();
    const issue = await stage.running();
    const redis = await find(pid, 'redis');
    process.kill(redis, 'SIGKILL');
    await until('another Redis', async () => (await find(pid, 'redis')) !== redis);
    stage.gate.release(issue);
    await endsRight(stage, issue, { run: 1, runsUsed: 1 });
  });

  test('a Redis elsewhere, back within the lease: the run goes on and completes', async (context) => {
    const redis = await startOwnRedis();
    context.onTestFinished(() => redis.stop());
    const stage = await openFlowStage(context);
    await stage.start({ redisUrl: redis.url });
    const issue = await stage.running();
    await redis.kill();
    await redis.start();
    stage.gate.release(issue);
    await endsRight(stage, issue, { run: 1, runsUsed: 1 }, { redisUrl: redis.url });
  });
}
