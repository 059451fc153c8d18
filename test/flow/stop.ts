/** Stopping and going on: what a person does to the process, or to the label, while an agent runs. */
import { expect, test } from 'vitest';
import { look } from '../demo/watch.ts';
import { until } from '../support/until.ts';
import { comments, endsRight, issueRecord, waitForTask } from './end.ts';
import { findAll } from './processes.ts';
import { label, openFlowStage } from './stage.ts';

export function stopped(): void {
  test('SIGTERM: the run in hand ends well, and a label set meanwhile is found at the next start', async (context) => {
    const stage = await openFlowStage(context);
    const first = await stage.start();
    const issue = await stage.running();
    first.kill('SIGTERM');
    await stage.says('"stopping"');
    stage.gate.release(issue);
    expect(await first.ended).toBe(0);
    const meanwhile = await stage.issue();
    await stage.start();
    for (const one of [issue, meanwhile]) await endsRight(stage, one, { run: 1, runsUsed: 1 });
  });

  test('SIGINT and once more: the run is handed back at once, and does not count', async (context) => {
    const stage = await openFlowStage(context);
    const first = await stage.start();
    const issue = await stage.running();
    let ended = false;
    void first.ended.then(() => {
      ended = true;
    });
    await until(
      'it ends before its grace',
      async () => {
        first.kill('SIGINT');
        return ended;
      },
      15_000,
    );
    expect(await first.ended).toBe(0);
    expect(stage.gate.waiting(issue)).toEqual([]);
    stage.gate.release(issue);
    await stage.start();
    const task = await waitForTask(stage, issue, 'it was handed back', ({ history }) => history.length > 0);
    expect(task.history[0]?.outcome).toBe('handed_back');
    await endsRight(stage, issue, { run: 2, runsUsed: 1 });
  });

  test('SIGTERM between the note and the close: it is closed, and told once', async (context) => {
    const stage = await openFlowStage(context);
    const first = await stage.start();
    const issue = await stage.running();
    const path = new RegExp(`/issues/${issue}$`);
    stage.github.fault({ method: 'PATCH', path, kind: 'slow', delayMs: 3_000 });
    stage.gate.release(issue);
    await until('the note is there', async () => (await comments(stage, issue)).length > 0);
    first.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    expect((await look(stage.watched, issue)).state).toBe('closed');
    await stage.start();
    await endsRight(stage, issue, { run: 1, runsUsed: 1 });
  });

  test('the label removed while an agent runs: the task is cancelled and the agent ended', async (context) => {
    const stage = await openFlowStage(context);
    const { people, owner, repo } = stage.watched;
    const { pid } = await stage.start();
    const issue = await stage.running();
    await people.issues.removeLabel({ owner, repo, issue_number: issue, name: label });
    await until('the agent is ended', async () => stage.gate.waiting(issue).length === 0);
    await until('nothing of it is left', async () => (await findAll(pid, 'agent')).length === 0);
    const task = await waitForTask(stage, issue, 'it is cancelled', ({ state }) => state === 'cancelled');
    expect(task.lease).toBeUndefined();
    await until('the issue is free', async () => (await issueRecord(stage, issue))?.pointer === undefined);
    const seen = await look(stage.watched, issue);
    expect([seen.state, seen.notes]).toEqual(['open', []]);
    expect(await comments(stage, issue)).toEqual([]);
  });
}
