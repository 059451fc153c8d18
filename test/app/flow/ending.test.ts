import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { until } from '../../support/until.ts';
import { allMet, at, noteStates, nothingMet, openIssue, ourComments, reasonsOf, work } from '../acts.ts';
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

const issueOf = async (number: number) => (await world.as.maria.issues.get(at(world, number))).data;
const stateOf = async (id: string | undefined) =>
  (await world.engine.get(world.caller, triage.namespace, id ?? 'none00000'))?.state;

/** An issue with a task in one of the states in which something can happen to it. */
async function issueIn(state: 'queued' | 'running' | 'parked', by = world.as.maria) {
  const number = await openIssue(world, { by });
  await world.as.maria.issues.addLabels({ ...at(world, number), labels: ['lane:triage'] });
  await world.settle();
  if (state === 'running') {
    const task = await world.task(number);
    const claim = await world.engine.claim(world.caller, triage.namespace, task?.id ?? '');
    expect(claim.kind).toBe('claimed');
  }
  if (state === 'parked') await work(world, triage.namespace, nothingMet, number);
  await world.settle();
  const id = (await world.task(number))?.id;
  expect(await stateOf(id)).toBe(state);
  return { number, id };
}

for (const state of ['queued', 'running', 'parked'] as const) {
  test(`taking the label off cancels a ${state} task and frees the issue`, async () => {
    const { number, id } = await issueIn(state);
    await world.as.tariq.issues.removeLabel({ ...at(world, number), name: 'lane:triage' });
    await world.settle();
    expect(await stateOf(id)).toBe('cancelled');
    expect((await world.record(number))?.pointer).toBeUndefined();
    expect(await reasonsOf(world, number)).toContain('label_removed');
  });

  test(`a permitted person who closes by hand is respected while the task is ${state}`, async () => {
    const { number, id } = await issueIn(state);
    await world.as.maria.issues.update({ ...at(world, number), state: 'closed' });
    await world.settle();
    expect(await stateOf(id)).toBe('cancelled');
    expect((await issueOf(number)).state).toBe('closed');
    const said = (await ourComments(world, number)).filter((body) => body.startsWith('Closed by hand'));
    expect(said).toHaveLength(1);
    expect(said[0]).toContain('The bell rings');
  });

  test(`a close by somebody who may not decide is undone once while the task is ${state}`, async () => {
    const { number, id } = await issueIn(state, world.as.sven);
    await world.as.sven.issues.update({ ...at(world, number), state: 'closed' });
    await world.settle();
    expect((await issueOf(number)).state).toBe('open');
    expect(await stateOf(id)).toBe(state);
    const said = (await ourComments(world, number)).filter((body) => body.startsWith('Reopened'));
    expect(said).toHaveLength(1);

    // GitHub's times are whole seconds: the second close is another one by its time.
    const second = Math.floor(Date.now() / 1_000);
    await until('the next second', async () => Math.floor(Date.now() / 1_000) > second);
    await world.as.sven.issues.update({ ...at(world, number), state: 'closed' });
    await world.settle();
    expect((await issueOf(number)).state).toBe('closed');
    expect(await stateOf(id)).toBe('cancelled');
    expect(await reasonsOf(world, number)).toContain('closed_again');
  });

  test(`a deleted issue cancels its ${state} task`, async () => {
    const { number, id } = await issueIn(state);
    await world.github.controls.deleteIssue(world.repo, number);
    await world.settle();
    expect(await stateOf(id)).toBe('cancelled');
    expect(await reasonsOf(world, number)).toContain('issue_deleted');
  });

  test(`a transferred issue cancels its ${state} task, and nothing is written on the new one`, async () => {
    const { number, id } = await issueIn(state);
    const other = await world.github.createRepo({ owner: 'acme', name: `other-${state}` });
    const moved = await world.github.controls.transferIssue(world.repo, number, other);
    await world.settle();
    expect(await stateOf(id)).toBe('cancelled');
    expect(await reasonsOf(world, number)).toContain('issue_transferred');
    const there = { owner: other.owner, repo: other.name, issue_number: moved };
    expect((await world.as.maria.issues.listComments(there)).data).toEqual([]);
  });
}

test('a merge that closes the issue with criteria open is undone, though a permitted person merged', async () => {
  const { number, id } = await issueIn('parked');
  const where = { owner: world.repo.owner, repo: world.repo.name };
  const { data: pull } = await world.as.wanda.pulls.create({
    ...where,
    title: 'A change',
    body: `Fixes #${number}`,
    head: 'work',
    base: world.repo.defaultBranch,
  });
  await world.as.wanda.pulls.merge({ ...where, pull_number: pull.number });
  await world.settle();
  expect(await reasonsOf(world, number)).toContain('closed_with_criteria_open');
  expect((await issueOf(number)).state).toBe('open');
  expect(await stateOf(id)).toBe('parked');
});

test('a redelivered close of an issue that was reopened reopens nothing again', async () => {
  const { number } = await issueIn('parked', world.as.sven);
  await world.as.sven.issues.update({ ...at(world, number), state: 'closed' });
  await world.settle();
  const delivery = world.github.deliveries().findLast((one) => one.action === 'closed');
  if (!delivery) throw new Error('no delivery');
  await world.probot.receive({
    id: delivery.guid,
    name: 'issues',
    payload: JSON.parse(delivery.payload),
  } as never);
  await world.settle();
  const said = (await ourComments(world, number)).filter((body) => body.startsWith('Reopened'));
  expect(said).toHaveLength(1);
  expect((await world.task(number))?.state).toBe('parked');
});

test('a stop before the reopening was ordered: told again, the same close is undone', async () => {
  const { number } = await issueIn('parked', world.as.sven);
  vi.spyOn(world.engine.loose, 'add').mockRejectedValueOnce(new Error('killed'));
  await world.as.sven.issues.update({ ...at(world, number), state: 'closed' });
  await world.settle();
  expect((await issueOf(number)).state).toBe('closed');
  const told = world.github.deliveries().findLast((one) => one.action === 'closed');
  await world.probot.receive({
    id: told?.guid ?? '',
    name: 'issues',
    payload: JSON.parse(told?.payload ?? '{}'),
  } as never);
  await world.settle();
  expect((await issueOf(number)).state).toBe('open');
  expect((await world.task(number))?.state).toBe('parked');
  world.failures.length = 0;
});

test('a lost answer while reopening does not make a second comment', async () => {
  const { number } = await issueIn('queued', world.as.sven);
  world.github.fault({ method: 'POST', path: /\/comments$/, kind: '502_after_write' });
  await world.as.sven.issues.update({ ...at(world, number), state: 'closed' });
  await world.settle();
  world.clock.pass(5_000);
  await world.settle();
  const said = (await ourComments(world, number)).filter((body) => body.startsWith('Reopened'));
  expect(said).toHaveLength(1);
});

test('an issue that was reopened after it was complete is left alone, also by the scan', async () => {
  const { number } = await issueIn('queued');
  await work(world, triage.namespace, allMet, number);
  await world.settle();
  expect((await issueOf(number)).state).toBe('closed');
  await world.as.maria.issues.update({ ...at(world, number), state: 'open' });
  await world.settle();
  await world.scan.runOnce();
  await world.scan.runOnce();
  await world.settle();
  expect(await world.task(number)).toBeNull();
  expect(await reasonsOf(world, number)).toContain('reopened_nothing_running');
  expect(await noteStates(world, number)).toEqual(['complete']);
});

test('our own close and our own comments cause nothing', async () => {
  const { number } = await issueIn('queued');
  await work(world, triage.namespace, allMet, number);
  await world.settle();
  const reasons = await reasonsOf(world, number);
  expect(reasons).toContain('own_event');
  expect(reasons).not.toContain('closed_by_person');
});

test('a renamed repository goes on under its new name', async () => {
  const { number, id } = await issueIn('queued');
  const name = `${world.repo.name}-renamed`;
  await world.as.maria.repos.update({ owner: 'acme', repo: world.repo.name, name });
  await work(world, triage.namespace, allMet, number);
  await world.settle();
  expect(await stateOf(id)).toBe('complete');
  const { data } = await world.as.maria.issues.get({ owner: 'acme', repo: name, issue_number: number });
  expect(data.state).toBe('closed');
  await world.as.maria.repos.update({ owner: 'acme', repo: name, name: world.repo.name });
});

test('an archived repository parks what would be written there, and refuses new labels', async () => {
  const { number, id } = await issueIn('queued');
  await work(world, triage.namespace, allMet, number);
  await world.as.maria.repos.update({ owner: 'acme', repo: world.repo.name, archived: true });
  await world.settle();
  expect(await stateOf(id)).toBe('parked');
  expect((await world.task(number))?.reason).toBe('not_writable');
  await world.as.maria.repos.update({ owner: 'acme', repo: world.repo.name, archived: false });
});

test('suspending the App, and taking it off, ends the tasks there', async () => {
  const one = await issueIn('parked');
  await world.github.installing.suspend('acme', true);
  await world.settle();
  expect(await stateOf(one.id)).toBe('cancelled');
  await world.github.installing.suspend('acme', false);
  await world.settle();
  const two = await issueIn('running');
  await world.github.installing.uninstall('acme');
  await world.settle();
  expect(await stateOf(two.id)).toBe('cancelled');
  expect(world.failures).toEqual([]);
});
