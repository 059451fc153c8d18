import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCaller } from '../../../lanes/namespaces.ts';
import type { Task } from '../../../lanes/records/tasks.ts';
import { newTask } from '../../support/tasks.ts';
import { openIssue } from '../acts.ts';
import { laneNamed, startWorld, type World } from '../world.ts';

const { namespace } = laneNamed('triage');

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

async function queuedTask(): Promise<Task> {
  const number = await openIssue(world, { labels: ['lane:triage'] });
  await world.settle();
  const task = await world.task(number);
  if (task?.state !== 'queued') throw new Error(`the task is ${task?.state}`);
  return task;
}

/** Claims as a worker that had the namespace's credential when it started. */
async function claimAs(identity: string, task: Task) {
  const worker = makeCaller(identity, [namespace]);
  const claim = await world.engine.claim(worker, namespace, task.id);
  if (claim.kind !== 'claimed') throw new Error(`not claimable: ${claim.state}`);
  return { worker, lease: claim.lease, task: claim.task };
}

const eventsOf = async (id: string): Promise<string[]> => {
  const entries = await world.engine.ledger.read(world.caller, namespace, '0', 1_000);
  return entries.filter(({ event }) => event.task === id).map(({ event }) => `${event.event} ${event.by}`);
};

test('a run is taken from a worker without a grant: not counted, told in the ledger, its lease refused', async () => {
  const { worker, lease, task } = await claimAs('worker-gone', await queuedTask());
  await world.keeper.runOnce();
  expect(await world.engine.get(world.caller, namespace, task.id)).toMatchObject({
    ...{ state: 'queued', runsUsed: 0, fence: task.fence + 1 },
    history: [{ worker: 'worker-gone', outcome: 'ended', detail: expect.stringContaining('not granted') }],
  });
  expect(await eventsOf(task.id)).toEqual(['admitted app', 'claimed worker-gone', 'taken_back app']);
  const lost = { code: 'lease_lost' };
  await expect(world.engine.renew(worker, lease)).rejects.toMatchObject(lost);
  const crash = { kind: 'died', death: { kind: 'exit', code: 1 }, tail: '' } as const;
  await expect(world.engine.record(worker, lease, task, crash)).rejects.toMatchObject(lost);
  await world.engine.cancel(world.caller, namespace, task.id, { reason: 'test' });
});

test('a run stays with a worker that has its grant', async () => {
  const { worker, lease, task } = await claimAs('worker-1', await queuedTask());
  await world.keeper.runOnce();
  expect(await world.engine.renew(worker, lease)).toMatchObject({ fence: lease.fence });
  await world.engine.cancel(world.caller, namespace, task.id, { reason: 'test' });
});

test('a queued task whose lane the file has no more is parked with the reason, others are left alone', async () => {
  const other = await queuedTask();
  const admission = newTask({ namespace, lane: 'gone' });
  const { id } = await world.engine.admit(world.caller, admission);
  await world.keeper.runOnce();
  expect(await world.engine.get(world.caller, namespace, id)).toMatchObject({
    ...{ state: 'parked', reason: 'agent_unavailable' },
    detail: `the operator's file has no lane gone in ${namespace} any more`,
  });
  expect((await world.engine.get(world.caller, namespace, other.id))?.state).toBe('queued');
});
