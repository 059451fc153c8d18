/** `kill -9` of the server: while an agent runs, and between a run's record and the end of its close. */
import { expect, test } from 'vitest';
import type { Lanekeeper } from '../demo/lanekeeper.ts';
import { until } from '../support/until.ts';
import { comments, endsRight } from './end.ts';
import { useStage } from './stage.ts';

const many = 1_000;
const once = { run: 1, runsUsed: 1 } as const;

const post = (issue: number) => ({ method: 'POST', path: new RegExp(`/issues/${issue}/comments$`) });
const patch = (issue: number) => ({ method: 'PATCH', path: new RegExp(`/issues/${issue}$`) });

export function serverKilled(): void {
  const stageOf = useStage();
  let lanekeeper: Lanekeeper;

  const killAndStart = async (): Promise<void> => {
    lanekeeper.kill('SIGKILL');
    expect(await lanekeeper.ended).toBe('SIGKILL');
    stageOf().github.clearFaults();
    lanekeeper = await stageOf().start();
  };

  test.sequential('a run, a note that waits, one that was posted and one without an answer: each is there once', async () => {
    const stage = stageOf();
    const { github, gate } = stage;
    lanekeeper = await stage.start();
    const [running, waits, posted, unanswered] = [
      await stage.running(),
      await stage.running(),
      await stage.running(),
      await stage.running(),
    ];
    const refused = github.fault({ ...post(waits), kind: '502_before', times: many });
    gate.release(waits);
    const open = github.fault({ ...patch(posted), kind: '502_before', times: many });
    gate.release(posted);
    await until('both were tried', async () => refused.hits() > 0 && open.hits() > 0);
    github.fault({ ...post(unanswered), kind: 'slow', delayMs: 30_000 });
    gate.release(unanswered);
    await until('GitHub has the note', async () => (await comments(stage, unanswered)).length > 0);
    expect(await comments(stage, waits)).toHaveLength(0);
    expect(await comments(stage, posted)).toHaveLength(1);
    await killAndStart();
    await until('the agent goes with its server', async () => !gate.waiting(running).includes(1));
    gate.release(running);
    for (const issue of [waits, posted, unanswered]) await endsRight(stage, issue, once);
    await endsRight(stage, running, { run: 2, runsUsed: 2 });
  });

  test.sequential('an issue that GitHub has closed without an answer: it completes without another note or close', async () => {
    const stage = stageOf();
    const issue = await stage.running();
    stage.github.resetCounts();
    stage.github.fault({ ...patch(issue), kind: 'slow', delayMs: 30_000 });
    stage.gate.release(issue);
    const { people, owner, repo } = stage.watched;
    await until('GitHub has closed it', async () => {
      const { data } = await people.issues.get({ owner, repo, issue_number: issue });
      return data.state === 'closed';
    });
    await killAndStart();
    await endsRight(stage, issue, once);
    expect(stage.github.counts()).toMatchObject({ comment_post: 1, issue_patch: 1 });
  });
}
