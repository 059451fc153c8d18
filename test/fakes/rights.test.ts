import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type GitHubStandIn, startGitHub } from './github.ts';
import { appClient, statusOf } from './support.ts';

let github: GitHubStandIn;
let at: { owner: string; repo: string };
let repos = 0;

beforeAll(async () => {
  github = await startGitHub();
});
afterAll(() => github.close());
beforeEach(async () => {
  const { owner, name } = await github.createRepo({ owner: 'acme', name: `api-${repos++}` });
  at = { owner, repo: name };
});

const as = (name: keyof GitHubStandIn['people']) => github.octokit(github.people[name].token);
const installed = () => appClient(github, github.installationId);

async function openIssue(labels: string[] = []) {
  const { data } = await as('admin').issues.create({ ...at, title: 'A', body: 'B', labels });
  return { ...at, issue_number: data.number };
}

test.each([
  ['maria', 'admin', 'admin', { admin: true, maintain: true, push: true, triage: true, pull: true }],
  ['mateo', 'write', 'maintain', { admin: false, maintain: true, push: true, triage: true, pull: true }],
  ['wanda', 'write', 'write', { admin: false, maintain: false, push: true, triage: true, pull: true }],
  ['tariq', 'read', 'triage', { admin: false, maintain: false, push: false, triage: true, pull: true }],
  ['sven', 'read', 'read', { admin: false, maintain: false, push: false, triage: false, pull: true }],
])('the permission of %s reads %s, its role %s', async (username, permission, role_name, permissions) => {
  const app = await installed();
  const { data } = await app.rest.repos.getCollaboratorPermissionLevel({ ...at, username });
  expect(data).toMatchObject({ permission, role_name, user: { login: username, permissions } });
});

test('a stranger has no permission on a private repository, and cannot see it', async () => {
  const { name } = await github.createRepo({ owner: 'acme', name: `hidden-${repos}`, private: true });
  const hidden = { owner: 'acme', repo: name };
  const app = await installed();
  const { data } = await app.rest.repos.getCollaboratorPermissionLevel({ ...hidden, username: 'sven' });
  expect(data).toMatchObject({ permission: 'none', user: { permissions: { pull: false, triage: false } } });
  expect(await statusOf(as('stranger').repos.get(hidden))).toBe(404);
  expect(await statusOf(as('stranger').issues.listForRepo(hidden))).toBe(404);
  expect(await statusOf(as('stranger').issues.listLabelsForRepo(hidden))).toBe(404);
  expect((await as('triager').repos.get(hidden)).data.permissions).toMatchObject({
    triage: true,
    push: false,
  });
});

test('the permission of a user that does not exist, or of a bot, is 404', async () => {
  const app = await installed();
  await app.rest.issues.createComment({ ...(await openIssue()), body: 'x' });
  const ask = (username: string) => app.rest.repos.getCollaboratorPermissionLevel({ ...at, username });
  expect(await statusOf(ask('nobody'))).toBe(404);
  expect(await statusOf(ask('lanekeeper[bot]'))).toBe(404);
});

test('people label with triage, edit the issues of others with write, and close their own', async () => {
  const issue = await openIssue();
  expect(await statusOf(as('stranger').issues.addLabels({ ...issue, labels: ['bug'] }))).toBe(403);
  expect((await as('triager').issues.addLabels({ ...issue, labels: ['bug'] })).status).toBe(200);
  expect(await statusOf(as('triager').issues.update({ ...issue, body: 'x' }))).toBe(403);
  expect((await as('writer').issues.update({ ...issue, body: 'x' })).status).toBe(200);
  expect(await statusOf(as('stranger').issues.update({ ...issue, state: 'closed' }))).toBe(403);
  const own = await as('stranger').issues.create({ ...at, title: 'mine', labels: ['bug'] });
  expect(own.data.labels).toEqual([]);
  const closed = await as('stranger').issues.update({
    ...at,
    issue_number: own.data.number,
    state: 'closed',
  });
  expect(closed.data.state).toBe('closed');
});

test('an issue template labels for a stranger', async () => {
  const repo = await as('admin').repos.get(at);
  const wish = { title: 'T', labels: ['lane:triage'] };
  const number = await github.controls.openFromTemplate(repo.data, github.people.stranger, wish);
  const { data } = await as('admin').issues.listEvents({ ...at, issue_number: number });
  expect(data.find((one) => one.event === 'labeled')?.actor?.login).toBe('sven');
});

test('a comment of someone else is changed by people who can write, and by nobody below', async () => {
  const issue = await openIssue();
  const { data } = await as('stranger').issues.createComment({ ...issue, body: 'mine' });
  const change = (name: keyof GitHubStandIn['people']) =>
    as(name).issues.updateComment({ ...at, comment_id: data.id, body: name });
  expect(await statusOf(change('triager'))).toBe(403);
  expect((await change('writer')).data.body).toBe('writer');
  expect((await change('stranger')).data.body).toBe('stranger');
});
