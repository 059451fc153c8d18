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

test('the same reaction again is the first one: 201, then 200', async () => {
  const issue = await openIssue();
  const app = await installed();
  const first = await app.rest.reactions.createForIssue({ ...issue, content: 'eyes' });
  const second = await app.rest.reactions.createForIssue({ ...issue, content: 'eyes' });
  expect([first.status, second.status]).toEqual([201, 200]);
  expect(second.data.id).toBe(first.data.id);
  expect(first.data.user).toMatchObject({ login: 'lanekeeper[bot]', type: 'Bot', id: expect.any(Number) });
  await as('stranger').reactions.createForIssue({ ...issue, content: 'confused' });
  const listed = await app.rest.reactions.listForIssue(issue);
  expect(listed.data.map((one) => `${one.user?.login} ${one.content}`)).toEqual([
    'lanekeeper[bot] eyes',
    'sven confused',
  ]);
  const { data } = await as('admin').issues.get(issue);
  expect(data.reactions).toMatchObject({ eyes: 1, confused: 1, total_count: 2 });
  const foreign = { ...issue, reaction_id: first.data.id };
  expect(await statusOf(as('stranger').reactions.deleteForIssue(foreign))).toBe(403);
  expect((await app.rest.reactions.deleteForIssue(foreign)).status).toBe(204);
  expect((await app.rest.reactions.listForIssue({ ...issue, content: 'eyes' })).data).toEqual([]);
});

test('a comment takes reactions of its own', async () => {
  const issue = await openIssue();
  const { data } = await as('stranger').issues.createComment({ ...issue, body: '/lane status' });
  const app = await installed();
  await app.rest.reactions.createForIssueComment({ ...at, comment_id: data.id, content: '-1' });
  const listed = await as('admin').issues.listComments(issue);
  expect(listed.data[0]?.reactions).toMatchObject({ '-1': 1, total_count: 1 });
});

test('texts over their limits are 422, at the limit they are taken', async () => {
  const issue = await openIssue();
  const admin = as('admin');
  const comment = (body: string) => admin.issues.createComment({ ...issue, body });
  expect((await comment('日'.repeat(65_536))).status).toBe(201);
  expect(await statusOf(comment('x'.repeat(65_537)))).toBe(422);
  expect(await statusOf(admin.issues.update({ ...issue, body: 'x'.repeat(65_537) }))).toBe(422);
  expect(await statusOf(admin.issues.create({ ...at, title: 'x'.repeat(257) }))).toBe(422);
  expect(await statusOf(admin.issues.createLabel({ ...at, name: 'x'.repeat(51) }))).toBe(422);
  expect(await statusOf(admin.issues.addLabels({ ...issue, labels: ['x'.repeat(51)] }))).toBe(422);
  const many = Array.from({ length: 101 }, (_none, index) => `l${index}`);
  expect(await statusOf(admin.issues.setLabels({ ...issue, labels: many }))).toBe(422);
});

test('a label that exists is refused as already_exists, in upper and lower case alike', async () => {
  const app = await installed();
  await app.rest.issues.createLabel({ ...at, name: 'lane:triage', color: 'ededed' });
  await expect(app.rest.issues.createLabel({ ...at, name: 'Lane:Triage' })).rejects.toMatchObject({
    status: 422,
    response: { data: { errors: [{ resource: 'Label', code: 'already_exists', field: 'name' }] } },
  });
});

test('locked issues and archived repositories take no comments and no reactions', async () => {
  const issue = await openIssue();
  await as('admin').issues.lock(issue);
  const app = await installed();
  expect(await statusOf(as('stranger').issues.createComment({ ...issue, body: 'x' }))).toBe(403);
  expect(await statusOf(app.rest.issues.createComment({ ...issue, body: 'x' }))).toBe(403);
  expect(await statusOf(app.rest.reactions.createForIssue({ ...issue, content: 'eyes' }))).toBe(403);
  await as('admin').issues.unlock(issue);
  await as('admin').repos.update({ ...at, archived: true });
  expect(await statusOf(app.rest.issues.createComment({ ...issue, body: 'x' }))).toBe(403);
  expect(await statusOf(app.rest.issues.update({ ...issue, state: 'closed' }))).toBe(403);
});

test('issues switched off are 410', async () => {
  const issue = await openIssue();
  await as('admin').repos.update({ ...at, has_issues: false });
  expect(await statusOf(as('admin').issues.get(issue))).toBe(410);
  expect(await statusOf(as('admin').issues.listForRepo(at))).toBe(410);
  expect(await statusOf(as('admin').issues.createComment({ ...issue, body: 'x' }))).toBe(410);
});

test('a read that changed nothing is 304, and after a change 200', async () => {
  const issue = await openIssue();
  const first = await as('admin').issues.get(issue);
  const again = () =>
    as('admin').issues.get({ ...issue, headers: { 'if-none-match': first.headers.etag ?? '' } });
  expect(await statusOf(again())).toBe(304);
  await as('admin').issues.update({ ...issue, title: 'new' });
  expect((await again()).status).toBe(200);
});

test('a renamed repository redirects reads and writes, and keeps its id', async () => {
  const issue = await openIssue();
  const before = await as('admin').repos.get(at);
  await as('admin').repos.update({ ...at, name: `${at.repo}-new` });
  const plain = await fetch(`${github.url}/repos/${at.owner}/${at.repo}/issues/1`, { redirect: 'manual' });
  expect(plain.status).toBe(301);
  expect(plain.headers.get('location')).toBe(`${github.url}/repositories/${before.data.id}/issues/1`);
  const patch = { method: 'PATCH', redirect: 'manual', body: '{}' } as const;
  const url = `${github.url}/repos/${at.owner}/${at.repo}/issues/1`;
  expect((await fetch(url, { ...patch, headers: { authorization: `token ${github.token}` } })).status).toBe(
    307,
  );
  expect((await as('admin').issues.get(issue)).data.title).toBe('A');
  expect((await as('admin').issues.update({ ...issue, title: 'moved' })).data.title).toBe('moved');
  expect((await as('admin').repos.get(at)).data.id).toBe(before.data.id);
});

test('a deleted issue is 410 and out of the list; a transferred one redirects', async () => {
  const gone = await openIssue(['bug']);
  const moved = await openIssue(['bug']);
  const here = (await as('admin').repos.get(at)).data;
  const there = await github.createRepo({ owner: 'acme', name: `${at.repo}-there` });
  await github.controls.deleteIssue(here, gone.issue_number);
  const number = await github.controls.transferIssue(here, moved.issue_number, there);
  expect(await statusOf(as('admin').issues.get(gone))).toBe(410);
  expect(await statusOf(as('admin').issues.createComment({ ...gone, body: 'x' }))).toBe(410);
  const { data } = await as('admin').issues.get(moved);
  expect(data.repository_url).toBe(`${github.url}/repos/${there.fullName}`);
  expect([data.number, data.labels]).toEqual([number, []]);
  expect((await as('admin').issues.listForRepo(at)).data).toEqual([]);
});

test('comments of a whole repository are listed since a time', async () => {
  const one = await openIssue();
  const two = await openIssue();
  await as('admin').issues.createComment({ ...one, body: 'first' });
  const { data } = await as('admin').issues.createComment({ ...two, body: 'second' });
  const all = await as('admin').issues.listCommentsForRepo(at);
  expect(all.data.map((comment) => comment.body)).toEqual(['first', 'second']);
  const since = await as('admin').issues.listCommentsForRepo({ ...at, since: data.created_at });
  expect(since.data.map((comment) => comment.body)).toContain('second');
  const future = new Date(Date.parse(data.created_at) + 5_000).toISOString();
  expect((await as('admin').issues.listCommentsForRepo({ ...at, since: future })).data).toEqual([]);
});

test('lists come in pages with links, and /api/v3 is the same place', async () => {
  const issue = await openIssue();
  for (const body of ['a', 'b', 'c']) await as('admin').issues.createComment({ ...issue, body });
  const all = await as('admin').paginate('GET /api/v3/repos/{owner}/{repo}/issues/{issue_number}/comments', {
    ...issue,
    per_page: 2,
  });
  expect(all).toHaveLength(3);
  const app = await installed();
  const repositories = await app.paginate(app.rest.apps.listReposAccessibleToInstallation, { per_page: 2 });
  expect(repositories.length).toBeGreaterThan(2);
});

test('an unknown token is 401 and times have whole seconds', async () => {
  expect(await statusOf(github.octokit('ghp_unknown').repos.get(at))).toBe(401);
  const { data } = await as('admin').issues.get(await openIssue());
  expect(data.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
});
