/** `kill -9` of each process at a named moment: the end is as if nothing had happened. */
import { afterEach, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { endsRight } from './end.ts';
import { find, findAll } from './processes.ts';
import { type FlowStage, openFlowStage } from './stage.ts';

let stage: FlowStage;
afterEach(() => stage.close());

/** An issue whose agent runs now. */
async function running(on: FlowStage): Promise<number> {
  const issue = await on.issue({ held: true });
  await until(`the agent of #${issue}`, async () => on.gate.waiting(issue).length > 0);
  return issue;
}

test('the agent and then the worker killed while an agent runs', async () => {
  stage = await openFlowStage();
  const { gate } = stage;
  const lanekeeper = await stage.start();
  const first = await running(stage);
  process.kill(await find(lanekeeper.pid, 'agent'), 'SIGKILL');
  gate.release(first);
  console.time('agent');
  await endsRight(stage, first, { run: 2, runsUsed: 2 });
  console.timeEnd('agent');
  const second = await running(stage);
  const worker = await find(lanekeeper.pid, 'worker');
  process.kill(worker, 'SIGKILL');
  await until('the agent goes with its worker', async () => gate.waiting(second).length === 0);
  gate.release(second);
  console.time('worker');
  await endsRight(stage, second, { run: 2, runsUsed: 2 });
  console.timeEnd('worker');
  expect(await find(lanekeeper.pid, 'worker')).not.toBe(worker);
  expect(await findAll(lanekeeper.pid, 'agent')).toEqual([]);
}, 120_000);
