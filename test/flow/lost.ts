/** A worker that has lost its lease, or its way to GitHub, without knowing: it changes nothing that is not its own. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { look } from '../demo/watch.ts';
import { until } from '../support/until.ts';
import { comments, endsRight, inStore, lane, storeUrl, testCaller, waitForTask } from './end.ts';
import { find } from './processes.ts';
import { type FlowStage, openFlowStage } from './stage.ts';

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

export function lost(): void {
  test('a worker that stood still past its lease: its result counts for nothing, the next run completes', async (context) => {
    const stage = await openFlowStage(context);
    const { pid } = await stage.start();
    const issue = await stage.running();
    const worker = await find(pid, 'worker');
    process.kill(worker, 'SIGSTOP');
    // The agent is no part of the worker: it goes on, and leaves a good result.
    stage.gate.release(issue);
    const isOver = ({ state }: { state: string }) => state === 'queued';
    await waitForTask(stage, issue, 'its lease has ended', isOver, { withinMs: 30_000 });
    process.kill(worker, 'SIGCONT');
    await endsRight(stage, issue, { run: 2, runsUsed: 2 });
    const task = await waitForTask(stage, issue, 'it is told', () => true);
    expect(task.history.map(({ run, outcome }) => [run, outcome])).toEqual([
      [1, 'died'],
      [2, 'result'],
    ]);
  });

  test('a store wiped during a run: nothing is recorded or posted, and the label scan admits it anew', async (context) => {
    const stage = await openFlowStage(context);
    await stage.start();
    const issue = await stage.running();
    await wipe(await storeUrl(stage));
    stage.gate.release(issue);
    await until('the worker has put its run away', async () => (await removals(stage)) === 1);
    expect(await comments(stage, issue)).toEqual([]);
    expect((await look(stage.watched, issue)).state).toBe('open');
    const counts = await inStore(stage, {}, (engine) => engine.count(testCaller, lane));
    expect(counts).toEqual({ queued: 0, running: 0, parked: 0, closing: 0, complete: 0, cancelled: 0 });
    await endsRight(stage, issue, { run: 1, runsUsed: 1, withinMs: 100_000 });
  });

  test('GitHub away at the claim: the run is handed back, uses nothing up, and is made a minute later', async (context) => {
    const stage = await openFlowStage(context);
    await stage.start();
    await endsRight(stage, await stage.issue());
    const path = /\/access_tokens$/;
    const away = stage.github.fault({ method: 'POST', path, kind: 'drop', times: 1_000 });
    const issue = await stage.issue();
    const isBack = ({ state, history }: { state: string; history: readonly unknown[] }) =>
      state === 'queued' && history.length > 0;
    const task = await waitForTask(stage, issue, 'it was handed back', isBack);
    expect(task.history[0]?.outcome).toBe('handed_back');
    expect(task.runsUsed).toBe(0);
    away.clear();
    await endsRight(stage, issue, { run: 2, runsUsed: 1, withinMs: 90_000 });
  });
}
