import { afterAll, beforeAll, expect, test } from 'vitest';
import { allMet, at, noteStates, openIssue, reactions, reasonsOf, work } from '../acts.ts';
import { laneNamed, startWorld, type World } from '../world.ts';

let world: World;
const triage = laneNamed('triage');
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const liveOn = async (number: number) => {
  const all = await world.engine.list(world.caller);
  return all.filter((task) => task.issue.number === number && task.issue.repositoryId === world.repo.id);
};

test('an issue that is opened with the label gets one task and one eyes, though two events tell of it', async () => {
  const number = await openIssue(world, { labels: ['lane:triage'] });
  await world.settle();
  expect(await liveOn(number)).toHaveLength(1);
  expect(await reactions(world, number)).toEqual(['eyes']);
  expect(await reasonsOf(world, number)).toEqual(['admitted', 'duplicate']);
});

test('the same delivery handled twice, and at the same time, makes one task', async () => {
  const number = await openIssue(world, {});
  await world.settle();
  world.github.webhookFault({ event: 'issues.labeled', kind: 'double' });
  await world.as.tariq.issues.addLabels({ ...at(world, number), labels: ['lane:triage'] });
  await world.settle();
  const delivery = world.github.deliveries().findLast((one) => one.action === 'labeled');
  if (!delivery) throw new Error('no delivery');
  const again = { id: delivery.guid, name: 'issues', payload: JSON.parse(delivery.payload) } as never;
  await Promise.all([world.probot.receive(again), world.probot.receive(again), world.probot.receive(again)]);
  await world.settle();
  expect(await liveOn(number)).toHaveLength(1);
});

test('events that race for an issue make one task', async () => {
  const number = await openIssue(world, {});
  await world.settle();
  const opened = world.github.deliveries().findLast((one) => one.action === 'opened');
  const whole = JSON.parse(opened?.payload ?? '{}');
  world.github.webhookFault({ event: 'issues.labeled', kind: 'drop' });
  await world.as.maria.issues.addLabels({ ...at(world, number), labels: ['lane:triage'] });
  const payload = { ...whole, action: 'labeled', label: { name: 'lane:triage' } };
  const racing = Array.from({ length: 5 }, (_, n) => {
    return world.probot.receive({ id: `race-${n}`, name: 'issues', payload } as never);
  });
  await Promise.all([...racing, world.scan.runOnce()]);
  await world.settle();
  expect(await liveOn(number)).toHaveLength(1);
});

test('five labels in a row are each handled, and one lane waits for the other', async () => {
  const number = await openIssue(world, {});
  for (const label of ['bug', 'lane:triage', 'ui', 'lane:docs', 'later']) {
    await world.as.maria.issues.addLabels({ ...at(world, number), labels: [label] });
  }
  await world.settle();
  expect((await liveOn(number)).map((task) => task.lane)).toEqual(['triage']);
  expect((await world.record(number))?.waiting).toEqual(['docs']);
  expect(await reactions(world, number)).toEqual(expect.arrayContaining(['eyes', 'confused']));
  expect(await reasonsOf(world, number)).toContain('issue_busy');

  await world.as.maria.issues.removeLabel({ ...at(world, number), name: 'lane:triage' });
  await world.settle();
  expect((await liveOn(number)).map((task) => task.lane)).toEqual(['docs']);
  expect((await world.record(number))?.waiting).toEqual([]);
});

test('taking off the label of a lane that waits leaves the other lane at work', async () => {
  const number = await openIssue(world, { labels: ['lane:triage', 'lane:docs'] });
  await world.settle();
  expect((await world.record(number))?.waiting).toEqual(['docs']);
  await world.as.maria.issues.removeLabel({ ...at(world, number), name: 'lane:docs' });
  await world.settle();
  expect((await liveOn(number)).map((task) => task.lane)).toEqual(['triage']);
  expect((await world.record(number))?.waiting).toEqual([]);
});

test('a label that a template set for a stranger is refused, visibly and with the reason', async () => {
  const person = world.github.people.stranger;
  const number = await world.github.controls.openFromTemplate(world.repo, person, {
    title: 'Please',
    body: '## Acceptance criteria\n- [ ] it works\n',
    labels: ['lane:triage'],
  });
  await world.settle();
  expect(await liveOn(number)).toEqual([]);
  expect(await reactions(world, number)).toEqual(['confused']);
  expect(await reasonsOf(world, number)).toContain('not_permitted');
  await world.scan.runOnce();
  expect(await liveOn(number)).toEqual([]);
  const said = (await reasonsOf(world, number)).length;
  await world.scan.runOnce();
  expect(await reasonsOf(world, number)).toHaveLength(said);
});

test('a label of no lane leaves no trace', async () => {
  const number = await openIssue(world, { labels: ['bug'] });
  await world.settle();
  expect(await world.record(number)).toBeNull();
});

test('a label that is told late, after the issue was closed as complete, is not refused', async () => {
  const number = await openIssue(world, { labels: ['lane:triage'] });
  await world.settle();
  await work(world, triage.namespace, allMet, number);
  await world.settle();
  const told = world.github.deliveries().findLast(({ action }) => action === 'labeled');
  if (told === undefined) throw new Error('no delivery');
  await fetch(told.url, { method: 'POST', headers: told.headers, body: told.payload });
  await world.settle();
  expect(await reactions(world, number)).toEqual(['eyes']);
  expect(await liveOn(number)).toEqual([]);
});

test('an opening that is told late, after the task has ended, starts nothing', async () => {
  world.github.webhookFault({ event: 'issues.opened', kind: 'drop' });
  const number = await openIssue(world, { labels: ['lane:triage'] });
  await world.settle();
  const task = await world.task(number);
  if (!task) throw new Error('no task');
  await world.engine.cancel(world.caller, task.namespace, task.id, { reason: 'test' });
  await world.keeper.runOnce();
  const labeled = world.github.deliveries().findLast((one) => one.action === 'labeled');
  const payload = { ...JSON.parse(labeled?.payload ?? '{}'), action: 'opened' };
  await world.probot.receive({ id: 'late-0000', name: 'issues', payload } as never);
  await world.settle();
  expect(await world.task(number)).toBeNull();
});

test('payloads that do not hold what GitHub sends are written off, never a crash', async () => {
  const number = await openIssue(world, {});
  await world.settle();
  const sent = world.github.deliveries().findLast((one) => one.action === 'opened');
  const whole = JSON.parse(sent?.payload ?? '{}');
  const odd: [string, unknown][] = [
    ['issues', { action: 'labeled' }],
    ['issues', { ...whole, action: 'labeled', label: null }],
    ['issues', { ...whole, action: 'labeled', issue: null }],
    ['issues', { ...whole, action: 'edited', changes: { body: true } }],
    ['issues', { ...whole, action: 'edited', changes: [] }],
    ['issues', { ...whole, action: 'opened', issue: { ...whole.issue, labels: 'many', body: 7 } }],
    ['issues', { ...whole, action: 'closed', repository: { id: 'seven', full_name: 'acme/app' } }],
    ['issues', { ...whole, action: 'deleted', sender: {} }],
    ['issues', { ...whole, action: 'no_such_action' }],
    ['issue_comment', { ...whole, action: 'created' }],
    ['issue_comment', { ...whole, action: 'created', comment: { id: 1, body: null } }],
    ['installation', { action: 'deleted' }],
    ['no_such_event', { action: 'x' }],
  ];
  for (const [name, payload] of odd) {
    await world.probot.receive({ id: `odd-${name}`, name, payload } as never);
  }
  await world.settle();
  expect(await liveOn(number)).toEqual([]);
  expect(world.logged.filter((line) => line.includes('invalid_payload')).length).toBeGreaterThanOrEqual(5);
});

test('a label set on a closed and on a locked issue is refused', async () => {
  const closed = await openIssue(world, {});
  await world.as.maria.issues.update({ ...at(world, closed), state: 'closed' });
  await world.as.maria.issues.addLabels({ ...at(world, closed), labels: ['lane:triage'] });
  const locked = await openIssue(world, {});
  await world.as.maria.issues.lock(at(world, locked));
  await world.as.maria.issues.addLabels({ ...at(world, locked), labels: ['lane:triage'] });
  await world.settle();
  expect(await reasonsOf(world, closed)).toContain('issue_closed');
  expect(await reasonsOf(world, locked)).toContain('issue_locked');
  expect(await liveOn(closed)).toEqual([]);
  expect(await liveOn(locked)).toEqual([]);
});

test('an issue without criteria is parked at once, with what was found instead', async () => {
  const body = 'Some words.\n\n- [ ] buy milk\n- [ ] call home\n';
  const number = await openIssue(world, { body, labels: ['lane:triage'] });
  await world.settle();
  const task = await world.task(number);
  expect(task?.state).toBe('parked');
  expect(task?.reason).toBe('no_criteria');
  expect(task?.detail).toContain('buy milk');
  expect(await noteStates(world, number)).toEqual(['parked']);
});

test('a lane that runs without criteria is not parked for their lack', async () => {
  const number = await openIssue(world, { body: 'Just words.', labels: ['lane:free'] });
  await world.settle();
  expect((await world.task(number))?.state).toBe('queued');
});

test('an unreadable body parks its task', async () => {
  const number = await openIssue(world, { body: '> '.repeat(30_000), labels: ['lane:triage'] });
  await world.settle();
  expect((await world.task(number))?.reason).toBe('unreadable_body');
});

test('a label set again after the end makes a new task that takes over the verdicts that still fit', async () => {
  const number = await openIssue(world, { labels: ['lane:docs'] });
  await world.settle();
  const first = await world.task(number);
  const id = first?.criteria[0]?.id ?? '';
  await world.engine.issues.update(world.caller, world.ref(number), (record) => ({
    ...record,
    dispositions: {
      [id]: {
        criterion: id,
        revision: 1,
        kind: 'waived',
        by: { kind: 'person', person: { login: 'maria', id: 1 } },
        reason: 'not now',
        evidence: [],
        atMs: 1,
      },
    },
  }));
  await world.as.maria.issues.removeLabel({ ...at(world, number), name: 'lane:docs' });
  // Without this the removal may be looked at when the label is back, and then it counts for nothing.
  await world.settle();
  await world.as.maria.issues.addLabels({ ...at(world, number), labels: ['lane:docs'] });
  await world.settle();
  const second = await world.task(number);
  expect(second?.id).not.toBe(first?.id);
  expect(second?.dispositions[id]?.kind).toBe('waived');
  expect(second?.criteria.map((criterion) => criterion.id)).toEqual(first?.criteria.map((one) => one.id));
});

test('the body at the label is what was approved, also when it was edited before we looked', async () => {
  const number = await openIssue(world, {});
  await world.settle();
  world.github.webhookFault({ event: 'issues.edited', kind: 'drop' });
  world.github.webhookFault({ event: 'issues.labeled', kind: 'delay', delayMs: 300 });
  await world.as.maria.issues.addLabels({ ...at(world, number), labels: ['lane:triage'] });
  await world.as.maria.issues.update({ ...at(world, number), body: '## Acceptance criteria\n- [ ] other\n' });
  await world.settle();
  const task = await world.task(number);
  const { data } = await world.as.maria.issues.get(at(world, number));
  expect(task?.approvedBodyHash).not.toBe(world.desk.hash(data.body ?? ''));
  expect(await work(world, triage.namespace, allMet, number)).toEqual({ refused: 'edited_after_approval' });
  expect((await world.task(number))?.reason).toBe('edited_after_approval');
});

test("a lane that the repository's file leaves out is ignored, and a broken file is told once with its place", async () => {
  const { controls } = world.github;
  await controls.commit(world.repo, { '.github/lanes.yml': 'lanes:\n  docs: {}\n' }, 'only docs');
  world.clock.pass(61_000);
  const off = await openIssue(world, { labels: ['lane:triage'] });
  await world.settle();
  expect(await liveOn(off)).toEqual([]);

  await controls.commit(world.repo, { '.github/lanes.yml': 'lanes:\n  docs: { nonsense: 1 }\n' }, 'broken');
  world.clock.pass(61_000);
  const one = await openIssue(world, { labels: ['lane:docs'] });
  const two = await openIssue(world, { labels: ['lane:docs'] });
  await world.settle();
  expect(await liveOn(one)).toHaveLength(1);
  const { data } = await world.as.maria.issues.listComments(at(world, one));
  expect(data.filter((comment) => comment.body?.includes('line 2'))).toHaveLength(1);
  const other = await world.as.maria.issues.listComments(at(world, two));
  expect(other.data).toEqual([]);
  await controls.commit(world.repo, { '.github/lanes.yml': null }, 'no file');
  world.clock.pass(61_000);
});
