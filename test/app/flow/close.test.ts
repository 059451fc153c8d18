import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { allMet, at, closing, noteStates, openIssue, twoCriteria, work } from '../acts.ts';
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

async function expectClosedOnce(number: number): Promise<void> {
  const issue = await issueOf(number);
  expect([issue.state, issue.state_reason]).toEqual(['closed', 'completed']);
  expect(await noteStates(world, number)).toEqual(['complete']);
  expect((await world.record(number))?.pointer).toBeUndefined();
}

test('a clean run asks GitHub nine times, tokens and git apart', async () => {
  const warm = await closing(world);
  await world.settle();
  await expectClosedOnce(warm);
  const number = await openIssue(world, {});
  await world.settle();
  world.github.resetCounts();
  await world.as.maria.issues.addLabels({ ...at(world, number), labels: ['lane:triage'] });
  await world.settle();
  await work(world, triage.namespace, allMet, number);
  await world.settle();
  const asked = world.github.requests().filter((entry) => !/access_tokens|\.git\//.test(entry.path));
  const ours = asked.filter((entry) => entry.side === 'apps').map((entry) => `${entry.method} ${entry.path}`);
  expect(ours.length, ours.join('\n')).toBeLessThanOrEqual(9);
  await expectClosedOnce(number);
});

test('criteria that changed before the close park the task; nothing is said to be complete', async () => {
  const number = await closing(world);
  world.github.webhookFault({ event: 'issues.edited', kind: 'drop' });
  await world.as.sven.issues.listForRepo({ owner: world.repo.owner, repo: world.repo.name });
  await world.as.maria.issues.update({ ...at(world, number), body: `${twoCriteria}- [ ] The light is on\n` });
  await world.settle();
  expect((await issueOf(number)).state).toBe('open');
  expect((await world.task(number))?.reason).toBe('criteria_changed');
  expect(await noteStates(world, number)).toEqual(['parked']);
});

test('an edit between the look and the close is found after it: reopened once, with a note', async () => {
  const number = await closing(world);
  world.github.webhookFault({ event: 'issues.edited', kind: 'drop' });
  const real = world.desk.github.close;
  vi.spyOn(world.desk.github, 'close').mockImplementationOnce(async (ref, reason) => {
    await world.as.maria.issues.update({ ...at(world, number), body: `${twoCriteria}- [ ] One more\n` });
    return real(ref, reason);
  });
  await world.settle();
  expect((await issueOf(number)).state).toBe('open');
  expect((await world.task(number))?.reason).toBe('criteria_changed');
  expect(await noteStates(world, number)).toEqual(['complete', 'parked']);
});

const steps = ['issue', 'createComment', 'close'] as const;
for (const step of steps) {
  for (const when of ['before', 'after'] as const) {
    test(`a stop right ${when} ${step} is made good by the next start`, async () => {
      const number = await closing(world);
      const real = world.desk.github[step] as (...parameters: unknown[]) => Promise<unknown>;
      const stopped = vi.spyOn(world.desk.github, step).mockImplementationOnce((async (
        ...parameters: unknown[]
      ) => {
        if (when === 'after') await real(...parameters);
        throw new Error('killed');
      }) as never);
      await world.broker.runOnce();
      expect(stopped).toHaveBeenCalled();
      const restarted = world.freshBroker();
      await restarted.runOnce();
      await world.settle();
      await expectClosedOnce(number);
    });
  }
}

for (const [verb, nth] of [
  ['put', 1],
  ['put', 2],
  ['get', 1],
] as const) {
  test(`a stop at the intents' ${verb} number ${nth} is made good by the next start`, async () => {
    const number = await closing(world);
    const real = world.engine.intents[verb].bind(world.engine.intents) as (
      ...all: unknown[]
    ) => Promise<unknown>;
    let calls = 0;
    vi.spyOn(world.engine.intents, verb).mockImplementation((async (...all: unknown[]) => {
      calls += 1;
      if (calls === nth) throw new Error('killed');
      return real(...all);
    }) as never);
    await world.broker.runOnce();
    await world.freshBroker().runOnce();
    await world.settle();
    await expectClosedOnce(number);
  });
}

test('a stop before the task is settled, and one before the effect is taken off, are made good', async () => {
  for (const verb of ['settle', 'ack'] as const) {
    const number = await closing(world);
    if (verb === 'settle') vi.spyOn(world.engine, 'settle').mockRejectedValueOnce(new Error('killed'));
    else vi.spyOn(world.engine.effects, 'ack').mockRejectedValueOnce(new Error('killed'));
    await world.broker.runOnce();
    await world.freshBroker().runOnce();
    await world.settle();
    await expectClosedOnce(number);
  }
});
