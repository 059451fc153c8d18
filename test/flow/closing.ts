/** `kill -9` of the server between a run's record and the end of its close: whatever GitHub has got by then, it is told once. */
import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { comments, endsRight, waitForTask } from './end.ts';
import { find } from './processes.ts';
import { type FlowStage, openFlowStage } from './stage.ts';

const many = 1_000;
const once = { run: 1, runsUsed: 1 } as const;

/** Waits until GitHub has the App's comment on the issue. */
function noted(stage: FlowStage, issue: number): Promise<boolean> {
  return until(`a comment on #${issue}`, async () => (await comments(stage, issue)).length > 0);
}

const post = (issue: number) => ({ method: 'POST', path: new RegExp(`/issues/${issue}/comments$`) });
const patch = (issue: number) => ({ method: 'PATCH', path: new RegExp(`/issues/${issue}$`) });

export function closing(): void {
  test('a note that waits, one that was posted, and one whose answer never came: each is there once', async (context) => {
    const stage = await openFlowStage(context);
    const { github, gate } = stage;
    const first = await stage.start();
    const [waits, posted, unanswered] = [await stage.running(), await stage.running(), await stage.running()];
    const refused = github.fault({ ...post(waits), kind: '502_before', times: many });
    gate.release(waits);
    const open = github.fault({ ...patch(posted), kind: '502_before', times: many });
    gate.release(posted);
    await until('both were tried', async () => refused.hits() > 0 && open.hits() > 0);
    github.fault({ ...post(unanswered), kind: 'slow', delayMs: 30_000 });
    gate.release(unanswered);
    await noted(stage, unanswered);
    first.kill('SIGKILL');
    await first.ended;
    expect(await comments(stage, waits)).toHaveLength(0);
    expect(await comments(stage, posted)).toHaveLength(1);
    github.clearFaults();
    await stage.start();
    await Promise.all([waits, posted, unanswered].map((issue) => endsRight(stage, issue, once)));
  });

  test('an issue that GitHub has closed without an answer: it completes without another note or close', async (context) => {
    const stage = await openFlowStage(context);
    const first = await stage.start();
    const issue = await stage.running();
    stage.github.fault({ ...patch(issue), kind: 'slow', delayMs: 30_000 });
    stage.gate.release(issue);
    const { people, owner, repo } = stage.watched;
    await until('GitHub has closed it', async () => {
      const { data } = await people.issues.get({ owner, repo, issue_number: issue });
      return data.state === 'closed';
    });
    first.kill('SIGKILL');
    await first.ended;
    stage.github.clearFaults();
    await stage.start();
    await endsRight(stage, issue, once);
    const closes = stage.github
      .requests()
      .filter(({ method, path }) => method === 'PATCH' && /issues/.test(path));
    expect(closes).toHaveLength(1);
  });

  test("the worker killed while a note waits: the close is the server's, and needs no worker", async (context) => {
    const stage = await openFlowStage(context);
    const { pid } = await stage.start();
    const issue = await stage.running();
    const refused = stage.github.fault({ ...post(issue), kind: '502_before', times: many });
    stage.gate.release(issue);
    await until('it was tried', async () => refused.hits() > 0);
    process.kill(await find(pid, 'worker'), 'SIGKILL');
    await waitForTask(stage, issue, 'it is closing', ({ state }) => state === 'closing');
    refused.clear();
    await endsRight(stage, issue, once);
  });
}
