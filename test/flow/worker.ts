/** What befalls a worker: killed, standing still, cut off from GitHub. It changes nothing that is not its own any more. */
import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { endsRight, waitForTask } from './end.ts';
import { find, findAll } from './processes.ts';
import { useStage } from './stage.ts';

export function workerLost(): void {
  const stageOf = useStage();
  let server = 0;

  test.sequential('killed while an agent runs: the agent goes with it, and the lease ends by itself', async () => {
    const stage = stageOf();
    server = (await stage.start()).pid;
    const issue = await stage.running();
    const worker = await find(server, 'worker');
    process.kill(worker, 'SIGKILL');
    await until('the agent goes too', async () => stage.gate.waiting(issue).length === 0);
    stage.gate.release(issue);
    await endsRight(stage, issue, { run: 2, runsUsed: 2 });
    expect(await find(server, 'worker')).not.toBe(worker);
    expect(await findAll(server, 'agent')).toEqual([]);
  });

  test.sequential("killed while a note waits: the close is the server's, and needs no worker", async () => {
    const stage = stageOf();
    const issue = await stage.running();
    const path = new RegExp(`/issues/${issue}/comments$`);
    const refused = stage.github.fault({ method: 'POST', path, kind: '502_before', times: 1_000 });
    stage.gate.release(issue);
    await until('it was tried', async () => refused.hits() > 0);
    process.kill(await find(server, 'worker'), 'SIGKILL');
    refused.clear();
    await endsRight(stage, issue, { run: 1, runsUsed: 1 });
  });

  test.sequential('standing still past its lease: its result counts for nothing, the next run completes', async () => {
    const stage = stageOf();
    const issue = await stage.running();
    const worker = await find(server, 'worker');
    process.kill(worker, 'SIGSTOP');
    // The agent is no part of the worker: it goes on, and leaves a good result.
    stage.gate.release(issue);
    await waitForTask(stage, issue, 'its lease has ended', ({ state }) => state === 'queued');
    process.kill(worker, 'SIGCONT');
    await endsRight(stage, issue, { run: 2, runsUsed: 2 });
    const { history } = await waitForTask(stage, issue, 'it is told', () => true);
    expect(history.map(({ run, outcome }) => `${run} ${outcome}`)).toEqual(['1 died', '2 result']);
  });
}

export function cutOff(): void {
  const stageOf = useStage();

  test('GitHub is away at the claim: the run is handed back, uses nothing up, and is made a minute later', async () => {
    const stage = stageOf();
    await stage.start();
    await endsRight(stage, await stage.issue());
    const path = /\/access_tokens$/;
    const away = stage.github.fault({ method: 'POST', path, kind: 'drop', times: 1_000 });
    const issue = await stage.issue();
    const task = await waitForTask(
      stage,
      issue,
      'it was handed back',
      ({ state, history }) => state === 'queued' && history.length > 0,
    );
    expect(task.history[0]?.outcome).toBe('handed_back');
    expect(task.runsUsed).toBe(0);
    away.clear();
    await endsRight(stage, issue, { run: 2, runsUsed: 1, withinMs: 90_000 });
  });
}
