/** Kills at random moments, by a seed that the title tells: whatever died when, every issue ends right. */
import { env } from 'node:process';
import { expect, test } from 'vitest';
import type { Lanekeeper } from '../demo/lanekeeper.ts';
import { until } from '../support/until.ts';
import { endsRight } from './end.ts';
import { findAll } from './processes.ts';
import { type FlowStage, useStage } from './stage.ts';

const seed = Number(env.FLOW_SEED ?? Date.now() % 1_000_000);
const kills = 12;
const issueCount = 6;
/** What takes a new start of everything comes less often. */
const victims = ['server', 'redis', 'worker', 'worker', 'agent', 'agent'] as const;

/** A small generator of numbers from 0 to below 1; the same seed gives the same ones. */
function makeRandom(from: number): () => number {
  let state = from;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Kills one, and starts Lanekeeper again where that ended it. */
async function kill(
  stage: FlowStage,
  running: Lanekeeper,
  victim: (typeof victims)[number],
): Promise<Lanekeeper> {
  const pids = victim === 'server' ? [running.pid] : await findAll(running.pid, victim);
  for (const pid of pids.slice(0, 1)) process.kill(pid, 'SIGKILL');
  if (victim === 'server') await running.ended;
  if (victim === 'redis' && pids.length > 0) await redisIsBack(running, pids);
  return running.isOver() ? stage.start() : running;
}

/** A Redis is started again, unless it was killed twice in a moment: then Lanekeeper ends, and says so. */
async function redisIsBack(running: Lanekeeper, dead: readonly number[]): Promise<void> {
  const another = async () => (await findAll(running.pid, 'redis')).some((pid) => !dead.includes(pid));
  await until('another Redis, or the end', async () => running.isOver() || (await another()), 60_000);
}

export function random(): void {
  const stageOf = useStage();

  test(`${kills} random kills over ${issueCount} issues (seed ${seed})`, async () => {
    const next = makeRandom(seed);
    const below = (n: number): number => Math.floor(next() * n);
    const stage = stageOf();
    let running = await stage.start();
    const issues: number[] = [];
    for (let step = 0; step < kills; step += 1) {
      if (issues.length <= step / 2) issues.push(await stage.issue({ held: true }));
      const released = issues[below(issues.length)] ?? 0;
      if (next() < 0.7) stage.gate.release(released);
      // The moment is between two requests that GitHub sees, so that it falls on every step of the way.
      const asked = stage.github.requests().length + 1 + below(8);
      await until('GitHub is asked', async () => stage.github.requests().length >= asked, 3_000).catch(
        () => {},
      );
      running = await kill(stage, running, victims[below(victims.length)] ?? 'server');
    }
    for (const issue of issues) stage.gate.release(issue);
    expect(issues).toHaveLength(issueCount);
    for (const issue of issues) await endsRight(stage, issue, { withinMs: 120_000 });
  });
}
