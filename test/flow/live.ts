/** What befalls one issue while the others go on: all on one running Lanekeeper. */
import { beforeAll, expect, test } from 'vitest';
import { look } from '../demo/watch.ts';
import type { Fault, FaultWish } from '../fakes/github/faults.ts';
import { until } from '../support/until.ts';
import { deliver } from './deliver.ts';
import { comments, endsRight, issueRecord, waitForTask } from './end.ts';
import { find, findAll } from './processes.ts';
import { label, useStage } from './stage.ts';

const writes = [
  { method: 'POST', path: (issue: number) => `/issues/${issue}/reactions$` },
  { method: 'POST', path: (issue: number) => `/issues/${issue}/comments$` },
  { method: 'PATCH', path: (issue: number) => `/issues/${issue}$` },
];

const kinds: readonly Omit<FaultWish, 'method' | 'path'>[] = [
  { kind: '502_before' },
  { kind: '502_after_write' },
  { kind: 'drop' },
  { kind: '403_retry_after', retryAfterS: 2 },
];

const once = { run: 1, runsUsed: 1, withinMs: 80_000 } as const;

export function live(): void {
  const stageOf = useStage();
  let server = 0;
  beforeAll(async () => {
    server = (await stageOf().start()).pid;
  }, 170_000);

  test.sequential('an agent is killed: its run counts as died, and the next one completes', async () => {
    const stage = stageOf();
    const issue = await stage.running();
    process.kill(await find(server, 'agent'), 'SIGKILL');
    stage.gate.release(issue);
    await endsRight(stage, issue, { run: 2, runsUsed: 2 });
  });

  test.sequential('the label is taken off while an agent runs: the task is cancelled, the agent ended', async () => {
    const stage = stageOf();
    const { people, owner, repo } = stage.watched;
    const issue = await stage.running();
    await people.issues.removeLabel({ owner, repo, issue_number: issue, name: label });
    await until('the agent is ended', async () => stage.gate.waiting(issue).length === 0);
    await until('nothing of it is left', async () => (await findAll(server, 'agent')).length === 0);
    const task = await waitForTask(stage, issue, 'it is cancelled', ({ state }) => state === 'cancelled');
    expect(task.lease).toBeUndefined();
    await until('the issue is free', async () => (await issueRecord(stage, issue))?.pointer === undefined);
    const seen = await look(stage.watched, issue);
    expect([seen.state, seen.notes]).toEqual(['open', []]);
    expect(await comments(stage, issue)).toEqual([]);
  });

  test.sequential('GitHub refuses, answers 502 after it wrote, cuts off and limits every write of a close', async () => {
    const stage = stageOf();
    const { people, owner, repo } = stage.watched;
    const issues: number[] = [];
    const faults: Fault[] = [];
    for (const kind of kinds) {
      const issue = await stage.issue({ labels: [] });
      for (const { method, path } of writes)
        faults.push(stage.github.fault({ ...kind, method, path: new RegExp(path(issue)) }));
      issues.push(issue);
    }
    for (const issue_number of issues)
      await people.issues.addLabels({ owner, repo, issue_number, labels: [label] });
    for (const issue of issues) await endsRight(stage, issue, once);
    expect(faults.map((fault) => fault.hits())).toEqual(faults.map(() => 1));
  });

  test.sequential('deliveries are doubled, out of order, late and told again: one task each', async () => {
    const stage = stageOf();
    const { people, owner, repo } = stage.watched;
    const issues: number[] = [];
    for (const kind of ['double', 'reorder', 'delay'] as const) {
      stage.github.webhookFault({ event: 'issues.labeled', kind });
      const issue = await stage.issue();
      await people.issues.createComment({ owner, repo, issue_number: issue, body: 'A word on this.' });
      issues.push(issue);
    }
    for (const issue of issues) await endsRight(stage, issue, once);
    for (const delivery of stage.github.deliveries()) await deliver(delivery, delivery.url);
    for (const issue of issues) await endsRight(stage, issue, once);
  });
}
