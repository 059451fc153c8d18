import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Engine, isLaneError } from '../../../lanes/index.ts';
import type { Task } from '../../../lanes/records/tasks.ts';
import { findReceipts } from '../../../lanes/work/outbox.ts';
import { superviseRun } from '../../../lanes/work/supervisor.ts';
import { type RunningWorker, runWorker } from '../../../lanes/work/worker-loop.ts';
import { grantUser } from '../../support/acl.ts';
import { type OwnRedis, startOwnRedis } from '../../support/redis.ts';
import { callerNamed, newTask } from '../../support/tasks.ts';
import { until } from '../../support/until.ts';
import { engineOf, main } from './many-support.ts';
import { agentRun, contained, makeLane, makeSetting, type RunSetting } from './run-support.ts';

const app = callerNamed('app', [main]);
const caller = callerNamed('worker-a', [main]);
const user = { username: 'main@worker-a', password: 'secret' };
const lane = { ...makeLane({ agent: { kind: 'command', run: agentRun('hangs') } }), namespace: main };

let redis: OwnRedis;
let admin: Redis;
let theirs: Engine;
let engine: Engine;
let worker: RunningWorker;
let setting: RunSetting;
let trouble: Error[];

beforeEach(async () => {
  redis = await startOwnRedis();
  admin = new Redis(redis.url);
  await grantUser(admin, user, main);
  theirs = engineOf(redis.url);
  engine = engineOf(redis.url, { [main]: user }, { leaseTtlMs: 30_000, renewEveryMs: 200 });
  setting = await makeSetting();
  trouble = [];
  const deps = {
    ...setting.deps,
    begin: (lease: Parameters<Engine['begin']>[1]) => engine.begin(caller, lease),
  };
  worker = await runWorker({
    engine,
    caller,
    lanes: [lane],
    supervise: (order) => superviseRun(deps, order),
    onTrouble: (error) => trouble.push(error),
    // A namespace that was refused stays so.
    sleep: (_ms, signal) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
  });
});
afterEach(async () => {
  await worker.close(0);
  await Promise.all([engine.close(), theirs.close()]);
  admin.disconnect();
  await redis.stop();
});

/** A task whose agent has done half of its work and hangs. */
async function halfDone(): Promise<Task> {
  const { id } = await theirs.admit(app, newTask({ namespace: main }));
  const { workDir } = setting.place;
  await until('half of the work is done', async () =>
    readdirSync(workDir).some((copy) => existsSync(join(workDir, copy, 'half-done.txt'))),
  );
  const task = await theirs.get(app, main, id);
  if (task?.state !== 'running') throw new Error(`it is ${task?.state}`);
  return task;
}

/** Waits until the copy is gone, and answers with the patch that was kept of it. */
async function keptWork(task: Task): Promise<string> {
  const { ctlDir, workDir, graveDir, outboxDir } = setting.place;
  await until('its copy is gone', async () =>
    [ctlDir, workDir, graveDir].every((folder) => readdirSync(folder).length === 0),
  );
  const [receipt] = await findReceipts(setting.place, task.id);
  return readFileSync(join(outboxDir, `${receipt?.copy}.result.patch`), 'utf8');
}

/** The agents that still run, by what they were started with. */
function agentsLeft(): string[] {
  const commandOf = (pid: string): string => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    } catch {
      return '';
    }
  };
  const { dataDir } = setting.place;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .map(commandOf)
    .filter((command) => command.includes(dataDir));
}

describe.runIf(contained)('a run whose worker loses its right in the middle', () => {
  test('by its Redis user: its agent is ended, its work is kept, and it records nothing', async () => {
    const task = await halfDone();
    expect(agentsLeft()).not.toEqual([]);
    await admin.call('ACL', 'DELUSER', user.username);
    expect(await keptWork(task)).toContain('+half of the work');
    expect(agentsLeft()).toEqual([]);
    // Redis closes the connections of a user that goes, and that may be told of before.
    const told = () => trouble.filter((error) => !isLaneError(error, 'store_unavailable'));
    await until('it was told', async () => told().length > 0);
    expect(told()).toMatchObject([{ code: 'store_refused' }]);
    const after = await theirs.get(app, main, task.id);
    expect(after).toEqual({ ...task, lease: { ...task.lease, endsAtMs: after?.lease?.endsAtMs } });
    // What comes next is the App's.
    expect(await theirs.takeBack(app, main, task.id, 'no grant')).toMatchObject({
      state: 'queued',
      runsUsed: 0,
    });
  });

  test('by the App, which takes it back: the same, and the task is queued again', async () => {
    const task = await halfDone();
    await theirs.pause(app, main);
    const queued = await theirs.takeBack(app, main, task.id, 'no grant');
    expect(await keptWork(task)).toContain('+half of the work');
    expect(agentsLeft()).toEqual([]);
    expect(await theirs.get(app, main, task.id)).toEqual(queued);
    expect(queued).toMatchObject({ state: 'queued', runsUsed: 0, fence: task.fence + 1 });
    expect(trouble).toEqual([]);
  });
});
