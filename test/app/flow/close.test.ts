import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import {
  allMet,
  at,
  laneNamed,
  noteStates,
  notesOn,
  openIssue,
  ourComments,
  reasonsOf,
  startWorld,
  twoCriteria,
  type World,
  work,
} from '../world.ts';

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

/** Issues whose runs have ended with everything met: what is left is the close. */
async function closings(count: number): Promise<number[]> {
  const numbers: number[] = [];
  for (let n = 0; n < count; n += 1) numbers.push(await openIssue(world, { labels: ['lane:triage'] }));
  await world.settle();
  for (const number of numbers) {
    await work(world, triage.namespace, allMet, number);
    expect((await world.task(number))?.state).toBe('closing');
  }
  return numbers;
}

async function closing(): Promise<number> {
  const [number] = await closings(1);
  if (number === undefined) throw new Error('none');
  return number;
}

async function expectClosedOnce(number: number): Promise<void> {
  const issue = await issueOf(number);
  expect([issue.state, issue.state_reason]).toEqual(['closed', 'completed']);
  expect(await noteStates(world, number)).toEqual(['complete']);
  expect((await world.record(number))?.pointer).toBeUndefined();
}

test('a clean run asks GitHub nine times, tokens and git apart', async () => {
  const warm = await closing();
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

test('a lost answer to the note does not make a second one', async () => {
  const number = await closing();
  const fault = world.github.fault({ method: 'POST', path: /\/comments$/, kind: '502_after_write' });
  await world.broker.runOnce();
  expect(fault.hits()).toBe(1);
  expect((await issueOf(number)).state).toBe('open');
  world.clock.pass(2_000);
  await world.settle();
  await expectClosedOnce(number);
});

test('a note that GitHub did not take is posted later', async () => {
  const number = await closing();
  world.github.fault({ method: 'POST', path: /\/comments$/, kind: '502_before' });
  world.github.fault({ method: 'POST', path: /\/comments$/, kind: 'drop' });
  for (let round = 0; round < 4; round += 1) {
    await world.broker.runOnce();
    world.clock.pass(5_000);
  }
  await world.settle();
  await expectClosedOnce(number);
});

test('a twin that lands late is deleted, and the older one stays', async () => {
  const number = await closing();
  world.github.fault({ method: 'POST', path: /\/comments$/, kind: '502_before' });
  await world.broker.runOnce();
  world.clock.pass(2_000);
  await world.settle();
  await expectClosedOnce(number);
  const [note] = await ourComments(world, number);
  await world.desk.github.createComment(world.ref(number), note ?? '');
  expect(await noteStates(world, number)).toEqual(['complete', 'complete']);
  world.clock.pass(16_000);
  await world.broker.runOnce();
  expect(await noteStates(world, number)).toEqual(['complete']);
});

test('a secondary limit makes effects wait, in order, and loses none', async () => {
  const [one = 0, two = 0] = await closings(2);
  world.github.fault({ method: 'POST', path: /\/comments$/, kind: '403_retry_after', retryAfterS: 30 });
  await world.broker.runOnce();
  world.github.resetCounts();
  await world.broker.runOnce();
  expect(world.github.requests()).toEqual([]);
  world.clock.pass(31_000);
  await world.settle();
  await expectClosedOnce(one);
  await expectClosedOnce(two);
  const [first, second] = [await issueOf(one), await issueOf(two)];
  expect(String(first.closed_at) <= String(second.closed_at)).toBe(true);
});

test('writes of an installation are at least a second apart', async () => {
  const at1: number[] = [];
  const numbers = await closings(3);
  for (const name of ['createComment', 'close', 'reopen', 'react'] as const) {
    const real = world.desk.github[name] as (...parameters: unknown[]) => Promise<unknown>;
    vi.spyOn(world.desk.github, name).mockImplementation((async (...parameters: unknown[]) => {
      at1.push(world.clock.now());
      return real(...parameters);
    }) as never);
  }
  await world.settle();
  for (const number of numbers) await expectClosedOnce(number);
  const gaps = at1.slice(1).map((time, index) => time - (at1[index] ?? 0));
  expect(at1.length).toBe(6);
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_000);
});

test('criteria that changed before the close park the task; nothing is said to be complete', async () => {
  const number = await closing();
  world.github.webhookFault({ event: 'issues.edited', kind: 'drop' });
  await world.as.sven.issues.listForRepo({ owner: world.repo.owner, repo: world.repo.name });
  await world.as.maria.issues.update({ ...at(world, number), body: `${twoCriteria}- [ ] The light is on\n` });
  await world.settle();
  expect((await issueOf(number)).state).toBe('open');
  expect((await world.task(number))?.reason).toBe('criteria_changed');
  expect(await noteStates(world, number)).toEqual(['parked']);
});

test('an edit between the look and the close is found after it: reopened once, with a note', async () => {
  const number = await closing();
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
      const number = await closing();
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
    const number = await closing();
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
    const number = await closing();
    if (verb === 'settle') vi.spyOn(world.engine, 'settle').mockRejectedValueOnce(new Error('killed'));
    else vi.spyOn(world.engine.effects, 'ack').mockRejectedValueOnce(new Error('killed'));
    await world.broker.runOnce();
    await world.freshBroker().runOnce();
    await world.settle();
    await expectClosedOnce(number);
  }
});

test('a worker cannot have effects delivered to an issue that is not bound to its namespace', async () => {
  const number = await openIssue(world, { labels: ['lane:triage'] });
  await world.settle();
  const victim = await world.task(number);
  if (!victim) throw new Error('no task');
  const docs = laneNamed('docs');
  // A worker of docs writes a task of its own making into its namespace, aimed at the other lane's issue.
  const { state: _, ...rest } = victim;
  const forged = {
    id: 'forged0000001',
    namespace: docs.namespace,
    lane: 'docs',
    issue: rest.issue,
    title: rest.title,
    approvedBy: rest.approvedBy,
    approvedBodyHash: rest.approvedBodyHash,
    criteria: rest.criteria,
    dispositions: {},
    proof: rest.proof,
    maxRuns: 1,
    parked: { reason: 'held', detail: 'Pay here' },
  } as const;
  await world.engine.admit(world.caller, { ...forged, criteria: [...forged.criteria] });
  await world.settle();
  expect(await ourComments(world, number)).toEqual([]);
  const left = await world.engine.effects.read(world.caller, docs.namespace, '0', { count: 10 });
  expect(left).toEqual([]);
  await world.engine.cancel(world.caller, docs.namespace, forged.id, { reason: 'test' });
});

test('a refusal for good is written down, and the task is parked as not writable', async () => {
  const number = await closing();
  await world.as.maria.issues.lock(at(world, number));
  await world.settle();
  const task = await world.task(number);
  expect([task?.state, task?.reason]).toEqual(['parked', 'not_writable']);
  expect(await reasonsOf(world, number)).toContain('delivery_refused');
  expect(await notesOn(world, number)).toEqual([]);
});

test('an issue that is gone at the close cancels its task', async () => {
  const number = await closing();
  world.github.webhookFault({ event: 'issues.deleted', kind: 'drop' });
  await world.github.controls.deleteIssue(world.repo, number);
  await world.settle();
  expect(await world.task(number)).toBeNull();
  expect(await reasonsOf(world, number)).toContain('issue_gone');
});
