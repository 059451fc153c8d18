/** GitHub answering badly, at every write of a close and at the webhooks: every issue still ends right. */
import { expect, test } from 'vitest';
import type { Fault, FaultWish } from '../fakes/github/faults.ts';
import { deliver } from './deliver.ts';
import { endsRight } from './end.ts';
import { label, openFlowStage } from './stage.ts';

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

export function badGitHub(): void {
  test('every write is refused, done without an answer, cut off and limited', async (context) => {
    const stage = await openFlowStage(context);
    const { people, owner, repo } = stage.watched;
    await stage.start();
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

  test('deliveries are doubled, out of order, late and told again: one task each', async (context) => {
    const stage = await openFlowStage(context);
    const { people, owner, repo } = stage.watched;
    await stage.start();
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
