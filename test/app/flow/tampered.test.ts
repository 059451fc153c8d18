import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCaller } from '../../../lanes/namespaces.ts';
import { until } from '../../support/until.ts';
import { at, noteStates, nothingMet, openIssue, reasonsOf, work } from '../acts.ts';
import { laneNamed, startWorld, type World } from '../world.ts';

let world: World;
const triage = laneNamed('triage');
const docs = laneNamed('docs');
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const queued = async (label = 'lane:triage') => {
  const number = await openIssue(world, { labels: [label] });
  await world.settle();
  const task = await world.task(number);
  if (!task) throw new Error('no task');
  return { number, task };
};

/** Rewrites a task's record behind everybody's back, as whoever holds the namespace's credential can. */
const rewrite = async (namespace: string, id: string, change: (doc: Record<string, unknown>) => string) => {
  const redis = world.redis();
  try {
    const key = `lanes:{${namespace}}:task:${id}`;
    const doc = await redis.hget(key, 'doc');
    if (doc === null) throw new Error(`nothing at ${key}`);
    await redis.hset(key, 'doc', change(JSON.parse(doc)));
  } finally {
    redis.disconnect();
  }
};

test('a record that names another issue gets its worker neither that repository nor an answer', async () => {
  const own = await queued('lane:docs');
  const victim = await queued();
  await world.as.maria.issues.addLabels({ ...at(world, victim.number), labels: ['lane:docs'] });
  await world.settle();
  await rewrite(docs.namespace, own.task.id, (doc) => JSON.stringify({ ...doc, issue: victim.task.issue }));
  const worker = makeCaller('worker-d', [docs.namespace]);
  const claim = await world.engine.claim(worker, docs.namespace, own.task.id);
  if (claim.kind !== 'claimed') throw new Error('not claimed');
  const before = await reasonsOf(world, victim.number);
  const answer = await world.hostPort.allowed(claim.lease);
  expect(answer).toEqual({ allowed: false, why: 'lease_lost' });
  const looked = await world.hostPort.lookUp(claim.lease, { kind: 'issue', number: victim.number });
  expect(looked.found).toBe(false);
  expect(await reasonsOf(world, victim.number)).toEqual(before);
  await world.engine.cancel(world.caller, docs.namespace, own.task.id, { reason: 'test' });
});

test('a record that cannot be read holds up no other task', async () => {
  const broken = await queued('lane:docs');
  const late = await queued('lane:docs');
  const other = await queued();
  await rewrite(docs.namespace, broken.task.id, () => '{"no":"task"}');
  const worker = makeCaller('worker-d', [docs.namespace]);
  const claim = await world.hasty.claim(worker, docs.namespace, late.task.id);
  expect(claim.kind).toBe('claimed');
  await until('the ended lease is moved on', async () => {
    await world.keeper.runOnce();
    return (await world.task(late.number))?.state === 'queued';
  });
  const listed = await world.engine.list(world.caller, docs.namespace, ['queued']);
  expect(listed.map(({ id }) => id)).toContain(late.task.id);
  // A pointer whose task ended is freed, though one before it could not be read.
  await world.engine.cancel(world.caller, triage.namespace, other.task.id, { reason: 'test' });
  await world.keeper.runOnce();
  expect((await world.record(other.number))?.pointer).toBeUndefined();
});

test('a stream of effects that is none any more holds up no other namespace', async () => {
  const one = await queued();
  const redis = world.redis();
  const key = `lanes:{${docs.namespace}}:effects`;
  await redis.del(key);
  await redis.set(key, 'no stream');
  await work(world, triage.namespace, nothingMet, one.number);
  await world.settle();
  expect(await noteStates(world, one.number)).toEqual(['parked']);
  await redis.del(key);
  redis.disconnect();
});
