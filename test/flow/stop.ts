/** Stopping and starting: nothing is lost, and what happened meanwhile is found. */
import { expect, test } from 'vitest';
import type { Lanekeeper } from '../demo/lanekeeper.ts';
import { look } from '../demo/watch.ts';
import { until } from '../support/until.ts';
import { comments, endsRight, waitForTask } from './end.ts';
import { useStage } from './stage.ts';

export function stopped(): void {
  const stageOf = useStage();
  let lanekeeper: Lanekeeper;

  test.sequential('SIGTERM: the run in hand ends well, and a label set meanwhile is found at the next start', async () => {
    const stage = stageOf();
    lanekeeper = await stage.start();
    const issue = await stage.running();
    lanekeeper.kill('SIGTERM');
    await stage.says('"stopping"');
    stage.gate.release(issue);
    expect(await lanekeeper.ended).toBe(0);
    const meanwhile = await stage.issue();
    lanekeeper = await stage.start();
    for (const one of [issue, meanwhile]) await endsRight(stage, one, { run: 1, runsUsed: 1 });
  });

  test.sequential('SIGINT and once more: the run is handed back at once, and does not count', async () => {
    const stage = stageOf();
    const issue = await stage.running();
    const sinceMs = performance.now();
    await until('it ends', async () => {
      lanekeeper.kill('SIGINT');
      return lanekeeper.isOver();
    });
    expect(performance.now() - sinceMs).toBeLessThan(15_000);
    expect(await lanekeeper.ended).toBe(0);
    expect(stage.gate.waiting(issue)).toEqual([]);
    stage.gate.release(issue);
    lanekeeper = await stage.start();
    const { history } = await waitForTask(
      stage,
      issue,
      'it was handed back',
      (task) => task.history.length > 0,
    );
    expect(history[0]?.outcome).toBe('handed_back');
    await endsRight(stage, issue, { run: 2, runsUsed: 1 });
  });

  test.sequential('SIGTERM between the note and the close: it is closed, and told once', async () => {
    const stage = stageOf();
    const issue = await stage.running();
    const path = new RegExp(`/issues/${issue}$`);
    stage.github.fault({ method: 'PATCH', path, kind: 'slow', delayMs: 3_000 });
    stage.gate.release(issue);
    await until('the note is there', async () => (await comments(stage, issue)).length > 0);
    lanekeeper.kill('SIGTERM');
    expect(await lanekeeper.ended).toBe(0);
    expect((await look(stage.watched, issue)).state).toBe('closed');
    lanekeeper = await stage.start();
    await endsRight(stage, issue, { run: 1, runsUsed: 1 });
  });
}
