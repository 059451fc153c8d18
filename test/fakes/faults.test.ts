import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execaNode } from 'execa';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { closeServer } from './github/server.ts';
import { type GitHubStandIn, startGitHub } from './github.ts';
import { appClient, git, statusOf } from './support.ts';

let github: GitHubStandIn;
const at = { owner: 'acme', repo: 'faults' };
const issue = { ...at, issue_number: 1 };

beforeAll(async () => {
  github = await startGitHub();
  await github.createRepo({ owner: 'acme', name: 'faults' });
  await github.octokit(github.token).issues.create({ ...at, title: 'A' });
});
afterAll(() => github.close());
beforeEach(() => github.clearFaults());

const installed = () => appClient(github, github.installationId);
const post = async () => (await installed()).rest.issues.createComment({ ...issue, body: 'x' });
const comments = async () => (await github.octokit(github.token).issues.listComments(issue)).data.length;
const path = /\/issues\/1\/comments$/;

test('502 after the write: the comment is there although the answer says otherwise', async () => {
  const before = await comments();
  const fault = github.fault({ method: 'POST', path, kind: '502_after_write' });
  expect(await statusOf(post())).toBe(502);
  expect(await comments()).toBe(before + 1);
  expect(fault.hits()).toBe(1);
  expect((await post()).status).toBe(201);
});

test('502 before the write, and a cut connection, leave nothing behind', async () => {
  const before = await comments();
  github.fault({ method: 'POST', path, kind: '502_before' });
  github.fault({ method: 'POST', path, kind: 'drop' });
  expect(await statusOf(post())).toBe(502);
  expect(await statusOf(post())).not.toBe(0);
  expect(github.requests().at(-1)).toMatchObject({ method: 'POST', status: 0, side: 'apps' });
  expect(await comments()).toBe(before);
});

test('the secondary limit says when to come back, as often as asked', async () => {
  github.fault({ method: 'POST', path, kind: '403_retry_after', retryAfterS: 7, times: 2 });
  for (const _time of [1, 2]) {
    await expect(post()).rejects.toMatchObject({
      status: 403,
      response: { headers: { 'retry-after': '7' } },
    });
  }
  expect((await post()).status).toBe(201);
});

test('a slow answer comes late, and the write has happened by then', async () => {
  github.fault({ method: 'POST', path, kind: 'slow', delayMs: 60 });
  const began = performance.now();
  expect((await post()).status).toBe(201);
  expect(performance.now() - began).toBeGreaterThan(50);
});

test('requests are counted by kind, Apps and people apart', async () => {
  github.resetCounts();
  const app = await installed();
  await app.rest.issues.get(issue);
  await app.rest.issues.createComment({ ...issue, body: 'x' });
  await app.rest.issues.listComments(issue);
  await app.rest.issues.update({ ...issue, title: 'B' });
  await app.rest.reactions.createForIssue({ ...issue, content: 'eyes' });
  await app.rest.repos.getCollaboratorPermissionLevel({ ...at, username: 'sven' });
  await app.rest.repos.getContent({ ...at, path: 'README.md' });
  await app.rest.apps.listReposAccessibleToInstallation();
  await app.rest.issues.listLabelsForRepo(at);
  await app.rest.issues.listForRepo(at);
  await app.rest.issues.listEvents(issue);
  await github.octokit(github.token).issues.get(issue);
  await git('/', ['ls-remote', `${github.gitUrl}/acme/faults.git`]);
  expect(github.counts()).toEqual({
    token_mint: 1,
    git: 2,
    permission_read: 1,
    issue_read: 1,
    issue_list: 1,
    issue_events: 1,
    issue_patch: 1,
    comment_post: 1,
    comment_list: 1,
    comment_other: 0,
    reaction: 1,
    contents: 1,
    repository_list: 1,
    label: 1,
    other: 0,
  });
  expect(github.counts('people').issue_read).toBe(1);
  expect(github.requests().at(1)).toMatchObject({
    method: 'GET',
    path: '/repos/acme/faults/issues/1',
    status: 200,
  });
});

function control(method: string, name: string, body?: object, token = github.token): Promise<Response> {
  const headers = { authorization: `token ${token}` };
  return fetch(`${github.url}/_control/${name}`, {
    method,
    headers,
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
}

test("the controls answer over HTTP to the admin's token and to nobody else", async () => {
  expect((await control('GET', 'counts', undefined, github.people.writer.token)).status).toBe(403);
  await control('DELETE', 'counts');
  expect(await (await control('GET', 'counts')).json()).toMatchObject({ apps: { token_mint: 0 } });
  await control('POST', 'faults', { method: 'GET', path: '/issues/1$', kind: '502_before' });
  const read = () => github.octokit(github.token).issues.get(issue);
  expect(await statusOf(read())).toBe(502);
  expect((await read()).status).toBe(200);
  expect((await control('POST', 'faults', { path: '.', kind: 'nonsense' })).status).toBe(422);
  const made = await control('POST', 'repos', { owner: 'acme', name: 'by-http', files: { 'a.txt': 'a' } });
  expect(await made.json()).toMatchObject({ fullName: 'acme/by-http', defaultBranch: 'main' });
  const commit = await control('POST', 'commits', { repository: 'acme/by-http', files: { 'b.txt': 'b' } });
  expect(await commit.json()).toMatchObject({ sha: expect.stringMatching(/^[0-9a-f]{40}$/) });
  expect((await control('POST', 'settle')).status).toBe(204);
});

test('closing leaves no folder and no port behind', async () => {
  // A folder for temporary files of its own: stand-ins of other tests come and go in the common one.
  const temporary = mkdtempSync(join(tmpdir(), 'lanekeeper-closing-'));
  vi.stubEnv('TMPDIR', temporary);
  const other = await startGitHub().finally(() => vi.unstubAllEnvs());
  expect(readdirSync(temporary)).toHaveLength(1);
  const deaf = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(deaf, 'listening');
  const bound = deaf.address();
  other.setHookUrl(`http://127.0.0.1:${typeof bound === 'object' ? bound?.port : 0}/`);
  await other.createRepo({ owner: 'acme', name: 'a' });
  await other.octokit(other.token).issues.create({ owner: 'acme', repo: 'a', title: 'A' });
  await once(deaf, 'connection');
  const slow = other.fault({ path: /zen/, kind: 'slow', delayMs: 60_000 });
  const hanging = fetch(`${other.url}/zen`).catch(() => 'cut off');
  await expect.poll(() => slow.hits(), { timeout: 30_000 }).toBe(1);
  const began = performance.now();
  await other.close();
  expect(performance.now() - began).toBeLessThan(5_000);
  await closeServer(deaf);
  expect(await hanging).toBe('cut off');
  expect(readdirSync(temporary)).toEqual([]);
  rmdirSync(temporary);
  await expect(fetch(other.url)).rejects.toThrow();
});

test('started alone it prints one line of JSON, serves, and ends on SIGTERM', async () => {
  const child = execaNode('test/fakes/main.ts', ['--port', '0', '--hook', 'http://127.0.0.1:9/hook'], {
    nodeOptions: ['--import', 'tsx'],
    buffer: false,
    reject: false,
  });
  let text = '';
  while (!text.includes('\n')) text += String((await once(child.stdout, 'data'))[0]);
  const { url, gitUrl, appId, privateKey, webhookSecret, token } = JSON.parse(text);
  expect([url, gitUrl, webhookSecret].every((one) => typeof one === 'string' && one !== '')).toBe(true);
  const alone = { ...github, url, appId, privateKey };
  const app = await appClient(alone);
  expect((await app.rest.apps.getWebhookConfigForApp()).data.url).toBe('http://127.0.0.1:9/hook');
  const listed = await git('/', ['ls-remote', `${gitUrl}/acme/widgets.git`], token);
  expect(listed.stdout).toContain('refs/heads/main');
  child.kill('SIGTERM');
  const ended = await child;
  expect(ended).toMatchObject({ exitCode: 0 });
});
