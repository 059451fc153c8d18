import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { makeCaller } from '../../../lanes/namespaces.ts';
import {
  allMet,
  at,
  closing,
  closings,
  noteStates,
  notesOn,
  nothingMet,
  openIssue,
  ourComments,
  reasonsOf,
  work,
} from '../acts.ts';
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

test('a lost answer to the note does not make a second one', async () => {
  const number = await closing(world);
  const fault = world.github.fault({ method: 'POST', path: /\/comments$/, kind: '502_after_write' });
  await world.broker.runOnce();
  expect(fault.hits()).toBe(1);
  expect((await issueOf(number)).state).toBe('open');
  world.clock.pass(2_000);
  await world.settle();
  await expectClosedOnce(number);
});

test('a note that GitHub did not take is posted later', async () => {
  const number = await closing(world);
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
  const number = await closing(world);
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
  const [one = 0, two = 0] = await closings(world, 2);
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
  const numbers = await closings(world, 3);
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
  const number = await closing(world);
  await world.as.maria.issues.lock(at(world, number));
  await world.settle();
  const task = await world.task(number);
  expect([task?.state, task?.reason]).toEqual(['parked', 'not_writable']);
  expect(await reasonsOf(world, number)).toContain('delivery_refused');
  expect(await notesOn(world, number)).toEqual([]);
});

test('an issue that is gone at the close cancels its task', async () => {
  const number = await closing(world);
  world.github.webhookFault({ event: 'issues.deleted', kind: 'drop' });
  await world.github.controls.deleteIssue(world.repo, number);
  await world.settle();
  expect(await world.task(number)).toBeNull();
  expect(await reasonsOf(world, number)).toContain('issue_gone');
});

test("a person's verdict that a worker made up closes nothing", async () => {
  const number = await openIssue(world, { labels: ['lane:triage'] });
  await world.settle();
  const task = await world.task(number);
  if (!task) throw new Error('no task');
  await work(world, triage.namespace, nothingMet, number);
  await world.settle();
  const made = task.criteria.map(({ id }) => [
    id,
    {
      criterion: id,
      revision: 1,
      kind: 'waived' as const,
      by: { kind: 'person' as const, person: { login: 'maria', id: 3 } },
      reason: 'never said',
      evidence: [],
      atMs: 1,
    },
  ]);
  const worker = makeCaller('worker-1', [triage.namespace]);
  const input = { dispositions: Object.fromEntries(made) };
  const moved = await world.engine.amend(worker, triage.namespace, task.id, input);
  expect(moved.state).toBe('closing');
  await world.settle();
  expect((await issueOf(number)).state).toBe('open');
  expect((await world.task(number))?.reason).toBe('criteria_changed');
  expect((await world.task(number))?.dispositions).toEqual({});
});

test('a second task on the same issue finds its own notes, not those of the first', async () => {
  const number = await closing(world);
  await world.settle();
  await expectClosedOnce(number);
  await world.as.maria.issues.update({ ...at(world, number), state: 'open' });
  await world.as.maria.issues.removeLabel({ ...at(world, number), name: 'lane:triage' });
  await world.as.maria.issues.addLabels({ ...at(world, number), labels: ['lane:triage'] });
  await world.settle();
  const second = await world.task(number);
  await work(world, triage.namespace, allMet, number);
  world.github.fault({ method: 'POST', path: /\/comments$/, kind: '502_before' });
  await world.broker.runOnce();
  world.clock.pass(2_000);
  await world.settle();
  const notes = await notesOn(world, number);
  expect(notes.map((note) => note.state)).toEqual(['complete', 'complete']);
  expect(notes.at(-1)?.task).toBe(second?.id);
  expect((await issueOf(number)).state).toBe('closed');
});

test('the notes of a task keep their order when the first one is in doubt', async () => {
  const number = await openIssue(world, { labels: ['lane:triage'] });
  await world.settle();
  await work(world, triage.namespace, nothingMet, number);
  const task = await world.task(number);
  await world.engine.resume(world.caller, triage.namespace, task?.id ?? '', {});
  world.github.fault({ method: 'POST', path: /\/comments$/, kind: '502_before' });
  await world.broker.runOnce();
  expect(await noteStates(world, number)).toEqual([]);
  world.clock.pass(2_000);
  await world.settle();
  expect(await noteStates(world, number)).toEqual(['parked', 'resumed']);
});

test('effects of an App that was taken off are given up, and their tasks end', async () => {
  const number = await closing(world);
  const id = (await world.task(number))?.id ?? '';
  world.github.webhookFault({ event: 'installation', kind: 'drop' });
  await world.github.installing.uninstall('acme');
  await world.settle();
  const task = await world.engine.get(world.caller, triage.namespace, id);
  expect([task?.state, task?.reason]).toEqual(['cancelled', 'issue_gone']);
  const left = await world.engine.effects.read(world.caller, triage.namespace, '0', { count: 10 });
  expect(left).toEqual([]);
});
