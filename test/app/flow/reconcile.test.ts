import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { githubNamespace } from '../../../lanes/namespaces.ts';
import { until } from '../../support/until.ts';
import { at, openIssue, reactions, reasonsOf } from '../acts.ts';
import { laneNamed, startWorld, type World } from '../world.ts';

let world: World;
const triage = laneNamed('triage');
beforeAll(async () => {
  world = await startWorld();
});
afterEach(() => {
  vi.restoreAllMocks();
  world.github.clearFaults();
});
afterAll(() => world.stop());

const silence = () => world.github.setHookUrl(null);

test('a label that no webhook told of is found by the scan, and the labeller is authorised', async () => {
  const hook = world.github.deliveries();
  expect(hook).toBeDefined();
  world.github.webhookFault({ event: 'issues', kind: 'drop', times: 10 });
  const good = await openIssue(world, { labels: ['lane:triage'] });
  const person = world.github.people.stranger;
  const bad = await world.github.controls.openFromTemplate(world.repo, person, {
    title: 'x',
    labels: ['lane:triage'],
  });
  await world.scan.runOnce();
  await world.settle();
  const task = await world.task(good);
  expect(task?.state).toBe('queued');
  expect(task?.approvedBy.login).toBe('maria');
  expect(await reactions(world, good)).toEqual(['eyes']);
  expect(await world.task(bad)).toBeNull();
  expect(await reactions(world, bad)).toEqual(['confused']);
});

test('a scan of unchanged lists finds everything answered 304, and says nothing anew', async () => {
  const person = world.github.people.stranger;
  const refused = { title: 'x', labels: ['lane:triage'] };
  const number = await world.github.controls.openFromTemplate(world.repo, person, refused);
  await world.settle();
  expect(await reasonsOf(world, number)).toContain('not_permitted');
  await world.scan.runOnce();
  world.github.resetCounts();
  await world.scan.runOnce();
  const lists = world.github.requests().filter((entry) => /\/repos\/[^/]+\/[^/]+\/issues$/.test(entry.path));
  expect(lists.length).toBeGreaterThan(0);
  expect(lists.every((entry) => entry.status === 304)).toBe(true);
  const other = world.github.requests().filter((entry) => /timeline|permission/.test(entry.path));
  expect(other).toEqual([]);
});

test('a file that was broken from the start keeps its lanes shut, and once corrected the label counts', async () => {
  const files = { '.github/lanes.yml': 'lanes: [' };
  const repo = await world.github.createRepo({ owner: 'acme', name: 'broken', files });
  const where = { owner: 'acme', repo: 'broken' };
  const { data } = await world.as.maria.issues.create({
    ...where,
    title: 'x',
    body: '## Acceptance criteria\n- [ ] it works\n',
    labels: ['lane:triage'],
  });
  await world.settle();
  const pointer = async () =>
    (await world.engine.issues.get(world.caller, repo.id, data.number))?.pointer?.lane;
  expect(await pointer()).toBeUndefined();
  const said = await world.as.maria.issues.listComments({ ...where, issue_number: data.number });
  expect(said.data.map((comment) => comment.body)).toEqual([expect.stringContaining('line 1')]);
  await world.github.commit(repo, { '.github/lanes.yml': 'lanes:\n  triage: {}\n' }, 'mend it');
  world.clock.pass(61_000);
  await world.scan.runOnce();
  await world.settle();
  expect(await pointer()).toBe('triage');
});

test('a stop between the pointer and the task is made good by the keeper, with the reaction', async () => {
  const number = await openIssue(world, {});
  await world.settle();
  vi.spyOn(world.engine.loose, 'add').mockRejectedValueOnce(new Error('killed'));
  await world.as.maria.issues.addLabels({ ...at(world, number), labels: ['lane:triage'] });
  await world.settle();
  expect(world.failures).toHaveLength(1);
  expect((await world.record(number))?.pointer).toBeDefined();
  expect(await world.task(number)).toBeNull();
  await world.keeper.runOnce();
  await world.settle();
  expect((await world.task(number))?.state).toBe('queued');
  expect(await reactions(world, number)).toEqual(['eyes']);
});

test('a stop between the reaction and the task is made good by the redelivery as well', async () => {
  const number = await openIssue(world, {});
  await world.settle();
  vi.spyOn(world.engine, 'admit').mockRejectedValueOnce(new Error('killed'));
  await world.as.maria.issues.addLabels({ ...at(world, number), labels: ['lane:triage'] });
  await world.settle();
  const delivery = world.github.deliveries().findLast((one) => one.action === 'labeled');
  if (!delivery) throw new Error('no delivery');
  await world.probot.receive({
    id: delivery.guid,
    name: 'issues',
    payload: JSON.parse(delivery.payload),
  } as never);
  await world.settle();
  expect((await world.task(number))?.state).toBe('queued');
  expect(await reactions(world, number)).toEqual(['eyes']);
});

test('a pointer whose task has ended is cleared by the keeper, and the waiting lane is admitted', async () => {
  const number = await openIssue(world, { labels: ['lane:triage', 'lane:docs'] });
  await world.settle();
  const task = await world.task(number);
  if (!task) throw new Error('no task');
  expect((await world.record(number))?.waiting).toEqual(['docs']);
  await world.engine.cancel(world.caller, task.namespace, task.id, { reason: 'test' });
  await world.keeper.runOnce();
  const next = await world.task(number);
  expect([next?.lane, next?.state]).toEqual(['docs', 'queued']);
});

test('a run whose lease ran out is queued again by the keeper', async () => {
  const number = await openIssue(world, { labels: ['lane:triage'] });
  await world.settle();
  const id = (await world.task(number))?.id ?? '';
  const claim = await world.hasty.claim(world.caller, triage.namespace, id);
  expect(claim.kind).toBe('claimed');
  await until('the lease has ended', async () => {
    await world.keeper.runOnce();
    return (await world.task(number))?.state === 'queued';
  });
  expect((await world.task(number))?.runsUsed).toBe(1);
});

test('an installation gets the missing labels, once, and keeps those that it has', async () => {
  const repo = await world.github.createRepo({ owner: 'acme', name: 'labels' });
  const where = { owner: 'acme', repo: 'labels' };
  await world.as.maria.issues.createLabel({ ...where, name: 'LANE:docs', color: '00ff00' });
  world.labels.want(world.github.installationId, [{ id: repo.id, full_name: repo.fullName }]);
  await world.labels.runOnce();
  await world.labels.runOnce();
  const { data } = await world.as.maria.issues.listLabelsForRepo(where);
  const ours = data.filter((label) => label.name.toLowerCase().startsWith('lane:'));
  expect(ours.map((label) => label.name).sort()).toEqual(['LANE:docs', 'lane:free', 'lane:triage']);
  expect(ours.find((label) => label.name === 'LANE:docs')?.color).toBe('00ff00');
});

test('repositories that are added tell of it, and get their labels', async () => {
  const repo = await world.github.createRepo({ owner: 'acme', name: 'added' });
  await world.github.installing.selectRepos('acme', [world.repo]);
  await world.github.installing.selectRepos('acme', [world.repo, repo]);
  await world.settle();
  await world.labels.runOnce();
  const { data } = await world.as.maria.issues.listLabelsForRepo({ owner: 'acme', repo: 'added' });
  expect(data.map((label) => label.name)).toEqual(expect.arrayContaining(['lane:triage', 'lane:docs']));
});

test('a store that was wiped is filled again from what is on GitHub', async () => {
  const number = await openIssue(world, { labels: ['lane:triage'] });
  await world.settle();
  const before = await world.task(number);
  silence();
  const admin = world.redis();
  await admin.flushall();
  admin.disconnect();
  await world.scan.runOnce();
  await world.settle();
  const after = await world.task(number);
  expect(after?.state).toBe('queued');
  expect(after?.id).not.toBe(before?.id);
  expect(await reasonsOf(world, number)).toEqual(['admitted']);
  expect(await world.engine.loose.read(world.caller, '0', { count: 10 }), githubNamespace).toEqual([]);
});
