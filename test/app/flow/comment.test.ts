import type { Octokit } from '@octokit/rest';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import {
  allMet,
  at,
  noteStates,
  nothingMet,
  openIssue,
  ourComments,
  reasonsOf,
  twoCriteria,
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

const say = async (number: number, body: string, by: Octokit = world.as.tariq) => {
  const { data } = await by.issues.createComment({ ...at(world, number), body });
  await world.settle();
  return data.id;
};
const answers = async (number: number) =>
  (await ourComments(world, number)).filter((body) => !body.startsWith('<!-- lanekeeper:note'));
const labelled = async (body = twoCriteria, by: Octokit = world.as.maria) => {
  const number = await openIssue(world, { body, by });
  await world.as.maria.issues.addLabels({ ...at(world, number), labels: ['lane:triage'] });
  await world.settle();
  return number;
};
const parked = async () => {
  const number = await labelled();
  await work(world, triage.namespace, nothingMet, number);
  await world.settle();
  expect((await world.task(number))?.state).toBe('parked');
  return number;
};

test('waiving what is open closes the issue', async () => {
  const number = await parked();
  const [one, two] = (await world.task(number))?.criteria ?? [];
  await say(number, `/lane waive ${one?.id} not needed any more`);
  expect((await world.task(number))?.state).toBe('parked');
  await say(number, `/lane met ${two?.id} I rang it myself`);
  const { data } = await world.as.maria.issues.get(at(world, number));
  expect([data.state, data.state_reason]).toEqual(['closed', 'completed']);
  expect(await noteStates(world, number)).toEqual(['parked', 'complete']);
  expect(await answers(number)).toHaveLength(2);
});

test('a command by somebody who is not permitted gets a reaction only', async () => {
  const number = await parked();
  const comment = await say(number, '/lane cancel', world.as.sven);
  expect((await world.task(number))?.state).toBe('parked');
  expect(await answers(number)).toEqual([]);
  const { owner, repo } = at(world, number);
  const { data } = await world.as.maria.reactions.listForIssueComment({ owner, repo, comment_id: comment });
  expect(data.map((reaction) => reaction.content)).toEqual(['confused']);
  expect(await reasonsOf(world, number)).toContain('not_permitted');
});

test('a quote, a block of code and plain words are no commands', async () => {
  const number = await parked();
  await say(
    number,
    '> /lane cancel\n\n```\n/lane cancel\n```\n\nUse `/lane cancel` for that.\n\n    /lane cancel',
  );
  expect((await world.task(number))?.state).toBe('parked');
  expect(await answers(number)).toEqual([]);
});

test('resuming hands over the answer, approves the body as it is, and the run may start', async () => {
  const number = await labelled(twoCriteria, world.as.sven);
  await world.as.sven.issues.update({ ...at(world, number), body: `${twoCriteria}\nMore.\n` });
  await world.settle();
  expect(await work(world, triage.namespace, allMet, number)).toEqual({ refused: 'edited_after_approval' });
  await world.settle();
  await say(number, '/lane resume go ahead with it');
  const task = await world.task(number);
  expect(task?.state).toBe('queued');
  expect(task?.answers.map((one) => [one.by.login, one.text])).toEqual([['tariq', 'go ahead with it']]);
  await work(world, triage.namespace, allMet, number);
  await world.settle();
  expect(await noteStates(world, number)).toEqual(['parked', 'resumed', 'complete']);
});

test('parking ends the run that is under way: its lease is lost', async () => {
  const number = await labelled();
  const task = await world.task(number);
  const claim = await world.engine.claim(world.caller, triage.namespace, task?.id ?? '');
  if (claim.kind !== 'claimed') throw new Error('not claimed');
  await say(number, '/lane park wait for the design');
  expect((await world.task(number))?.reason).toBe('held');
  const late = world.engine.record(world.caller, claim.lease, claim.task, allMet(claim.task));
  await expect(late).rejects.toMatchObject({ code: 'lease_lost' });
  expect(await noteStates(world, number)).toEqual(['parked']);
});

test('the same comment told twice is carried out and answered once', async () => {
  const number = await parked();
  world.github.webhookFault({ event: 'issue_comment', kind: 'double' });
  await say(number, '/lane resume\n/lane status');
  expect(await answers(number)).toHaveLength(1);
  expect(await noteStates(world, number)).toEqual(['parked', 'resumed']);
});

test('a stop between two commands goes on with the second one', async () => {
  const number = await parked();
  const [one, two] = (await world.task(number))?.criteria ?? [];
  vi.spyOn(world.engine, 'amend').mockImplementationOnce(async () => {
    throw new Error('killed');
  });
  await say(number, `/lane waive ${one?.id} a\n/lane waive ${two?.id} b`);
  const delivery = world.github
    .deliveries()
    .findLast((each) => each.event === 'issue_comment' && each.payload.includes('/lane waive'));
  if (!delivery) throw new Error('no delivery');
  await world.probot.receive({
    id: delivery.guid,
    name: 'issue_comment',
    payload: JSON.parse(delivery.payload),
  } as never);
  await world.settle();
  const { data } = await world.as.maria.issues.get(at(world, number));
  expect([data.state, data.state_reason]).toEqual(['closed', 'not_planned']);
  expect(await answers(number)).toHaveLength(1);
});

test('a stop before the answer: told again, the answer still says what was done', async () => {
  const number = await parked();
  vi.spyOn(world.engine.loose, 'add').mockRejectedValueOnce(new Error('killed'));
  await say(number, '/lane cancel');
  expect(await answers(number)).toEqual([]);
  const told = world.github.deliveries().findLast((each) => each.payload.includes('/lane cancel'));
  await world.probot.receive({
    id: told?.guid ?? '',
    name: 'issue_comment',
    payload: JSON.parse(told?.payload ?? '{}'),
  } as never);
  await world.settle();
  const said = await answers(number);
  expect(said).toEqual([expect.stringMatching(/cancelled/i)]);
  expect(said[0]).not.toContain('nothing to command');
});

test('moving a criterion needs an open issue', async () => {
  const number = await parked();
  const [one] = (await world.task(number))?.criteria ?? [];
  const closed = await openIssue(world, {});
  await world.as.maria.issues.update({ ...at(world, closed), state: 'closed' });
  await say(number, `/lane moved ${one?.id} #${closed}`);
  expect((await world.task(number))?.dispositions[one?.id ?? '']).toBeUndefined();
  await say(number, `/lane moved ${one?.id} #99999`);
  expect((await world.task(number))?.dispositions[one?.id ?? '']).toBeUndefined();
  const open = await openIssue(world, {});
  await say(number, `/lane moved ${one?.id} #${open}`);
  expect((await world.task(number))?.dispositions[one?.id ?? '']?.kind).toBe('moved');
  await say(number, `/lane open ${one?.id}`);
  expect((await world.task(number))?.dispositions[one?.id ?? '']).toBeUndefined();
  expect((await world.record(number))?.dispositions).toEqual({});
});

test('a criterion moves neither to a pull request nor to an issue that lives elsewhere now', async () => {
  const number = await parked();
  const [one] = (await world.task(number))?.criteria ?? [];
  const where = { owner: world.repo.owner, repo: world.repo.name };
  await world.github.commit(world.repo, { 'a.txt': 'a' }, 'A change', 'elsewhere');
  const { data: pull } = await world.as.wanda.pulls.create({
    ...where,
    title: 'A change',
    head: 'elsewhere',
    base: world.repo.defaultBranch,
  });
  const gone = await openIssue(world, {});
  const other = await world.github.createRepo({ owner: 'acme', name: 'elsewhere' });
  await world.github.controls.transferIssue(world.repo, gone, other);
  await say(number, `/lane moved ${one?.id} #${pull.number}`);
  await say(number, `/lane moved ${one?.id} #${gone}`);
  expect((await world.record(number))?.dispositions).toEqual({});
  expect((await answers(number)).at(-1)).toContain('not an open issue');
});

test('cancelling ends the task, and a command without a task is answered', async () => {
  const number = await parked();
  await say(number, '/lane cancel');
  expect(await world.task(number)).toBeNull();
  await say(number, '/lane resume');
  expect((await answers(number)).at(-1)).toMatch(/no task|nothing/i);
});

test('the answer to a command is found among two hundred comments when its post was in doubt', async () => {
  const number = await parked();
  const chatter = Array.from({ length: 201 }, (_, n) => `chatter ${n} 🙂 مرحبا`);
  await Promise.all(
    chatter.map((body) => world.as.maria.issues.createComment({ ...at(world, number), body })),
  );
  await world.settle();
  world.github.fault({ method: 'POST', path: /\/comments$/, kind: '502_after_write', times: 1 });
  const [one] = (await world.task(number))?.criteria ?? [];
  await world.engine.loose.add(world.caller, {
    kind: 'comment',
    key: `test:${number}`,
    issue: world.ref(number),
    body: `about ${one?.id}`,
  });
  await world.settle();
  world.clock.pass(5_000);
  await world.settle();
  expect(await answers(number)).toHaveLength(1);
  expect(await noteStates(world, number)).toEqual(['parked']);
});
