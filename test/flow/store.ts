/** What befalls the store: its process killed, its content wiped. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { look } from '../demo/watch.ts';
import { until } from '../support/until.ts';
import { comments, endsRight, inStore, lane, storeUrl, testCaller } from './end.ts';
import { find } from './processes.ts';
import { type FlowStage, useStage } from './stage.ts';

/** Takes everything from a store, behind everyone's back. */
async function wipe(url: string): Promise<void> {
  const redis = new Redis(url);
  await redis.flushall();
  redis.disconnect();
}

/** The copies that were removed, each after its patch was safe. */
async function removals(stage: FlowStage): Promise<number> {
  return (await readdir(join(stage.dataDir(), 'tombstones'))).length;
}

export function storeLost(): void {
  const stageOf = useStage();

  test.sequential('killed while an agent runs: it is started again, and the run goes on', async () => {
    const stage = stageOf();
    const { pid } = await stage.start();
    const issue = await stage.running();
    const redis = await find(pid, 'redis');
    process.kill(redis, 'SIGKILL');
    await until('another Redis', async () => (await find(pid, 'redis')) !== redis);
    stage.gate.release(issue);
    await endsRight(stage, issue, { run: 1, runsUsed: 1 });
  });

  test.sequential('wiped during a run: nothing is recorded or posted, and the label scan admits it anew', async () => {
    const stage = stageOf();
    const issue = await stage.running();
    const before = await removals(stage);
    await wipe(await storeUrl(stage));
    stage.gate.release(issue);
    await until('the worker has put its run away', async () => (await removals(stage)) > before);
    expect(await comments(stage, issue)).toEqual([]);
    expect((await look(stage.watched, issue)).state).toBe('open');
    const counts = await inStore(stage, {}, (engine) => engine.count(testCaller, lane));
    expect(counts).toEqual({ queued: 0, running: 0, parked: 0, closing: 0, complete: 0, cancelled: 0 });
    await endsRight(stage, issue, { run: 1, runsUsed: 1, withinMs: 100_000 });
  });
}
