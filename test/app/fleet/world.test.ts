/** A box against the App as it is: the stand-in for GitHub, the real host port, the issue closed in the end. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { claimAnswerSchema } from '../../../lanes/records/fleet.ts';
import { allMet, noteStates, openIssue, reasonsOf } from '../acts.ts';
import { laneNamed, lanes, startWorld, type World } from '../world.ts';
import { call, type FleetWorld, piece, refusedWith, startFleet } from './support.ts';

const triage = laneNamed('triage');
let world: World;
let fleet: FleetWorld;

beforeAll(async () => {
  world = await startWorld();
  const { engine, desk, hostPort: host } = world;
  const grants = new Map([
    ['box-42', [triage.namespace]],
    ['box-7', [laneNamed('docs').namespace]],
  ]);
  fleet = await startFleet(engine, { appCaller: desk.caller, host, lanes, grants });
});
afterAll(async () => {
  await fleet.stop();
  await world.stop();
});

const issue = async () => {
  const number = await openIssue(world, { labels: ['lane:triage'] });
  await world.settle();
  return number;
};
const claim = () => call(fleet, 'POST', '/claim', { json: { namespace: triage.namespace } });

test('a box takes an issue from its claim to its close', async () => {
  const number = await issue();
  const { lease, taskRecord, input } = claimAnswerSchema.parse((await claim()).body);
  expect(input.criteria.map(({ text }) => text)).toEqual(['The door opens', 'The bell rings']);
  expect(JSON.stringify(input)).not.toContain('clone');
  const checkout = await call(fleet, 'GET', `/leases/${lease}/checkout`);
  const { url, token = '' } = checkout.body as { url: string; token?: string };
  expect(url).toBe(`${world.github.gitUrl}/${world.repo.fullName}.git`);
  const as = world.github.octokit(token);
  const at = { owner: world.repo.owner, repo: world.repo.name };
  expect((await as.repos.getContent({ ...at, path: 'README.md' })).status).toBe(200);
  await expect(as.issues.createComment({ ...at, issue_number: number, body: 'x' })).rejects.toMatchObject({
    status: 403,
  });
  await call(fleet, 'POST', `/leases/${lease}/begin`);
  const bytes = Buffer.from('diff --git a/x b/x\n');
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await call(fleet, 'PUT', `/leases/${lease}/patch`, { body: bytes, headers: piece(0, bytes, sha256) });
  const [base, tree] = ['a'.repeat(40), 'b'.repeat(40)];
  const patch = {
    copy: 'c',
    worker: 'box-42',
    run: 1,
    base,
    tree,
    sha256,
    bytes: 19,
    files: 1,
    partial: false,
  };
  const end = { ...allMet({ ...taskRecord, criteria: input.criteria }), patch };
  const done = await call(fleet, 'POST', `/leases/${lease}/complete`, { json: { end } });
  expect(done.body).toEqual({ state: 'closing' });
  await world.settle();
  expect((await world.task(number))?.state ?? 'complete').toBe('complete');
  expect(await noteStates(world, number)).toEqual(['complete']);
  const { data } = await world.as.maria.issues.get({ ...at, issue_number: number });
  expect(data.state).toBe('closed');
});

test('a task whose label is gone is cancelled at the claim, and the box hears of no work', async () => {
  const number = await issue();
  world.github.webhookFault({ event: 'issues', kind: 'drop' });
  const at = { owner: world.repo.owner, repo: world.repo.name, issue_number: number };
  await world.as.maria.issues.removeLabel({ ...at, name: 'lane:triage' });
  expect((await claim()).status).toBe(204);
  expect(await reasonsOf(world, number)).toContain('label_removed');
  world.github.clearFaults();
});

test('a task that is cancelled gives no checkout any more', async () => {
  const number = await issue();
  const { lease } = claimAnswerSchema.parse((await claim()).body);
  const task = await world.task(number);
  if (task === null) throw new Error('no task');
  await world.engine.cancel(world.caller, task.namespace, task.id, { reason: 'a person' });
  expect(refusedWith(await call(fleet, 'GET', `/leases/${lease}/checkout`))).toEqual([409, 'lease_lost']);
});
