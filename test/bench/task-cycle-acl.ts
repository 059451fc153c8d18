/**
 * What Redis's own fence costs: our task cycle as namespace users against the same as the superuser. Same Redis, in
 * turn; medians.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectWith, credentialsOf, startEmbeddedRedis } from '../../lanes/index.ts';
import { testEngine } from '../support/engine.ts';
import { makeUsers } from '../support/redis-users.ts';
import { lane } from '../support/tasks.ts';
import type { BenchRow } from './row.ts';
import { cyclesSideBySide, ourRound, tasksARound } from './task-cycle.ts';

/** Measures `task_cycle_acl`. */
export async function benchTaskCycleAcl(): Promise<BenchRow[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'lanes-bench-'));
  const users = makeUsers('bench', [lane]);
  const redis = await startEmbeddedRedis({ dataDir, users: () => users });
  const fenced = testEngine(redis.url, { connect: connectWith(redis.url, credentialsOf(users, 'bench')) });
  const open = testEngine(redis.url);
  const ours = () => ourRound(fenced, tasksARound);
  const peer = () => ourRound(open, tasksARound);
  try {
    const row = { name: 'task_cycle_acl', unit: 'tasks/s', bound: 'ratio >= 0.9' };
    return [await cyclesSideBySide(redis.url, row, ours, peer)];
  } finally {
    await Promise.all([fenced.close(), open.close()]);
    await redis.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
