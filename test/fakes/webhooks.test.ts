import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { numberAt, objectsIn, textAt } from './github/call.ts';
import { closeServer } from './github/server.ts';
import { type GitHubStandIn, startGitHub } from './github.ts';
import { appClient, type Receiver, startReceiver, statusOf } from './support.ts';

let github: GitHubStandIn;
let receiver: Receiver;
let repos = 0;
let at: { owner: string; repo: string };

beforeAll(async () => {
  github = await startGitHub();
});
afterAll(() => github.close());

beforeEach(async () => {
  receiver = await startReceiver(github.webhookSecret);
  const { owner, name } = await github.createRepo({ owner: 'acme', name: `hooks-${repos++}` });
  at = { owner, repo: name };
  github.setHookUrl(receiver.url);
});
afterEach(async () => {
  github.clearFaults();
  await github.settle();
  await receiver.close();
});

const admin = () => github.octokit(github.token);

test('an issue opened with two labels sends opened and one labeled for each, signed, in order', async () => {
  await admin().issues.create({ ...at, title: 'A', body: 'B', labels: ['lane:triage', 'bug'] });
  await github.settle();
  expect(receiver.names()).toEqual(['issues.opened', 'issues.labeled', 'issues.labeled']);
  expect(receiver.received.every((one) => one.signed)).toBe(true);
  expect(new Set(receiver.received.map((one) => one.guid)).size).toBe(3);
  for (const one of receiver.received) expect(one.guid).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  const [opened, labeled] = receiver.received;
  expect(numberAt(opened?.payload, 'installation', 'id')).toBe(github.installationId);
  expect(textAt(opened?.payload, 'sender', 'login')).toBe('maria');
  expect(textAt(opened?.payload, 'organization', 'login')).toBe('acme');
  expect(labeled?.payload.label).toMatchObject({
    id: expect.any(Number),
    name: 'lane:triage',
    url: expect.any(String),
  });
  expect(labeled?.headers['x-github-hook-installation-target-id']).toBe(String(github.appId));
  expect(labeled?.headers['x-github-hook-installation-target-type']).toBe('integration');
});

test('a delivery waits until the one before it has been answered', async () => {
  const answers: Array<() => void> = [];
  const arrived: string[] = [];
  const slow = createServer((request, response) => {
    arrived.push(String(request.headers['x-github-delivery']));
    answers.push(() => response.end());
  }).listen(0, '127.0.0.1');
  await once(slow, 'listening');
  const bound = slow.address();
  github.setHookUrl(`http://127.0.0.1:${typeof bound === 'object' ? bound?.port : 0}/`);
  await admin().issues.create({ ...at, title: 'A', labels: ['bug'] });
  await expect.poll(() => arrived.length, { timeout: 30_000 }).toBe(1);
  await admin().issues.listForRepo(at);
  expect(arrived.length).toBe(1);
  answers[0]?.();
  await expect.poll(() => arrived.length, { timeout: 30_000 }).toBe(2);
  answers[1]?.();
  await github.settle();
  await closeServer(slow);
});

test('settling waits for what deliveries set off, too', async () => {
  const arrived: string[] = [];
  const answering = createServer(async (request, response) => {
    arrived.push(String(request.headers['x-github-event']));
    if (arrived.length < 3) await admin().issues.createComment({ ...at, issue_number: 1, body: 'x' });
    response.end();
  }).listen(0, '127.0.0.1');
  await once(answering, 'listening');
  const bound = answering.address();
  github.setHookUrl(`http://127.0.0.1:${typeof bound === 'object' ? bound?.port : 0}/`);
  await admin().issues.create({ ...at, title: 'A' });
  await github.settle();
  expect(arrived).toEqual(['issues', 'issue_comment', 'issue_comment']);
  expect(github.deliveries().at(-1)?.statusCode).toBe(200);
  await closeServer(answering);
});

test('the timeline of an issue opened with a label names who set it', async () => {
  const { data } = await admin().issues.create({ ...at, title: 'A', labels: ['bug'] });
  const events = await admin().issues.listEvents({ ...at, issue_number: data.number });
  expect(events.data.find((one) => one.event === 'labeled')?.actor?.login).toBe('maria');
});

test('an edit carries the body as it was, and a close the new state', async () => {
  const { data } = await admin().issues.create({ ...at, title: 'A', body: 'old' });
  const issue = { ...at, issue_number: data.number };
  await admin().issues.update({ ...issue, body: 'new' });
  await admin().issues.update({ ...issue, state: 'closed', state_reason: 'not_planned' });
  await admin().issues.update({ ...issue, state: 'open' });
  await github.settle();
  expect(receiver.names()).toEqual(['issues.opened', 'issues.edited', 'issues.closed', 'issues.reopened']);
  const [, edited, closed] = receiver.received;
  expect(textAt(edited?.payload, 'changes', 'body', 'from')).toBe('old');
  expect(textAt(edited?.payload, 'issue', 'body')).toBe('new');
  expect(textAt(closed?.payload, 'issue', 'state_reason')).toBe('not_planned');
});

test('a label set twice is told once, and its removal once', async () => {
  const { data } = await admin().issues.create({ ...at, title: 'A' });
  const issue = { ...at, issue_number: data.number };
  await admin().issues.addLabels({ ...issue, labels: ['Bug'] });
  await admin().issues.addLabels({ ...issue, labels: ['bug'] });
  await admin().issues.removeAllLabels(issue);
  await github.settle();
  expect(receiver.names()).toEqual(['issues.opened', 'issues.labeled', 'issues.unlabeled']);
  expect(textAt(receiver.received[1]?.payload, 'label', 'name')).toBe('Bug');
});

test('a comment of the App comes from its bot, and a person editing it is the sender', async () => {
  const { data } = await admin().issues.create({ ...at, title: 'A' });
  const app = await appClient(github, github.installationId);
  const comment = await app.rest.issues.createComment({ ...at, issue_number: data.number, body: 'note' });
  const writer = github.octokit(github.people.writer.token);
  await writer.issues.updateComment({ ...at, comment_id: comment.data.id, body: 'tampered' });
  await github.settle();
  const [, created, edited] = receiver.received;
  expect(textAt(created?.payload, 'sender', 'login')).toBe('lanekeeper[bot]');
  expect(textAt(created?.payload, 'sender', 'type')).toBe('Bot');
  expect(numberAt(created?.payload, 'comment', 'performed_via_github_app', 'id')).toBe(github.appId);
  expect(edited?.name).toBe('issue_comment.edited');
  expect(textAt(edited?.payload, 'sender', 'login')).toBe('wanda');
  expect(textAt(edited?.payload, 'changes', 'body', 'from')).toBe('note');
});

test('an App hears nothing of an owner it is not installed on', async () => {
  await github.createRepo({ owner: 'globex', name: `silent-${repos}` });
  await admin().issues.create({ owner: 'globex', repo: `silent-${repos}`, title: 'A', labels: ['bug'] });
  await github.settle();
  expect(receiver.names()).toEqual([]);
});

test('installing, selecting repositories and uninstalling tell the App, and kill its tokens', async () => {
  const one = await github.createRepo({ owner: 'globex', name: `one-${repos}` });
  const two = await github.createRepo({ owner: 'globex', name: `two-${repos}` });
  const id = await github.installing.installOn('globex', [one]);
  const app = await appClient(github);
  const { data } = await app.rest.apps.createInstallationAccessToken({ installation_id: id });
  const installed = github.octokit(data.token);
  const listed = await installed.apps.listReposAccessibleToInstallation();
  expect(listed.data.repositories.map((repo) => repo.name)).toEqual([one.name]);
  expect(await statusOf(installed.issues.create({ owner: 'globex', repo: two.name, title: 'A' }))).toBe(403);
  await github.installing.selectRepos('globex', [two]);
  await github.installing.uninstall('globex');
  await expect(installed.apps.listReposAccessibleToInstallation()).rejects.toMatchObject({ status: 401 });
  await github.settle();
  expect(receiver.names()).toEqual([
    'installation.created',
    'installation_repositories.added',
    'installation_repositories.removed',
    'installation.deleted',
  ]);
  expect(objectsIn(receiver.received[0]?.payload.repositories).map((repo) => repo.name)).toEqual([one.name]);
});

test('a suspended installation mints no token, uses none and hears nothing until it is resumed', async () => {
  const app = await appClient(github);
  const mint = () => app.rest.apps.createInstallationAccessToken({ installation_id: github.installationId });
  const early = github.octokit((await mint()).data.token);
  await github.installing.suspend('acme', true);
  await expect(mint()).rejects.toMatchObject({ status: 403 });
  await expect(early.issues.listForRepo(at)).rejects.toMatchObject({ status: 403 });
  await admin().issues.create({ ...at, title: 'A' });
  await github.installing.suspend('acme', false);
  await mint();
  await github.settle();
  expect(receiver.names()).toEqual(['installation.suspend', 'installation.unsuspend']);
});

test('a failed delivery is listed by status, and sent again under the same GUID', async () => {
  receiver.answerWith(500);
  await admin().issues.create({ ...at, title: 'A', labels: ['bug'] });
  await github.settle();
  receiver.answerWith(202);
  const app = await appClient(github);
  const failed = await app.rest.apps.listWebhookDeliveries({ status: 'failure', per_page: 1 });
  const [last] = failed.data;
  expect(last).toMatchObject({ event: 'issues', action: 'labeled', status_code: 500, redelivery: false });
  const cursor = /[?&]cursor=([^&>]+)/.exec(failed.headers.link ?? '')?.[1] ?? '';
  const next = await app.rest.apps.listWebhookDeliveries({ status: 'failure', per_page: 1, cursor });
  expect(next.data[0]?.action).toBe('opened');
  const answer = await app.rest.apps.redeliverWebhookDelivery({ delivery_id: last?.id ?? 0 });
  expect(answer.status).toBe(202);
  await github.settle();
  const again = receiver.received.at(-1);
  expect(again).toMatchObject({ guid: last?.guid, name: 'issues.labeled', signed: true });
  const good = await app.rest.apps.listWebhookDeliveries({ status: 'success', per_page: 1 });
  expect(good.data[0]).toMatchObject({ guid: last?.guid, redelivery: true, status_code: 202 });
  const still = await app.rest.apps.listWebhookDeliveries({ status: 'failure', per_page: 1 });
  expect(still.data[0]?.id).toBe(last?.id);
  const full = await app.rest.apps.getWebhookDelivery({ delivery_id: last?.id ?? 0 });
  expect(full.data.request.payload).toMatchObject({ action: 'labeled' });
});

test('deliveries are dropped, doubled, reordered and late only when a fault asks for it', async () => {
  const open = () => admin().issues.create({ ...at, title: 'A', labels: ['bug'] });
  github.webhookFault({ event: 'issues.opened', kind: 'drop' });
  github.webhookFault({ event: 'issues.labeled', kind: 'double' });
  await open();
  await github.settle();
  expect(receiver.names()).toEqual(['issues.labeled', 'issues.labeled']);
  expect(receiver.received[0]?.guid).toBe(receiver.received[1]?.guid);
  receiver.received.length = 0;
  github.webhookFault({ event: 'issues.opened', kind: 'reorder' });
  await open();
  await github.settle();
  expect(receiver.names()).toEqual(['issues.labeled', 'issues.opened']);
  receiver.received.length = 0;
  github.webhookFault({ event: 'issues.opened', kind: 'delay', delayMs: 30 });
  await open();
  await github.settle();
  const sent = github.deliveries().slice(-2);
  expect(sent.map((one) => one.action)).toEqual(['labeled', 'opened']);
  expect(receiver.received).toHaveLength(2);
  receiver.received.length = 0;
  await open();
  await github.settle();
  expect(receiver.names()).toEqual(['issues.opened', 'issues.labeled']);
});

test('a merge into the default branch that says "Fixes" closes the issue', async () => {
  const { data } = await admin().issues.create({ ...at, title: 'A' });
  const pull = { ...at, head: 'work', base: 'main', title: 'B', body: `Fixes #${data.number}` };
  const made = await admin().pulls.create(pull);
  await admin().pulls.merge({ ...at, pull_number: made.data.number });
  await github.settle();
  expect(receiver.names()).toEqual(['issues.opened', 'issues.closed']);
  expect((await admin().issues.get({ ...at, issue_number: data.number })).data.state).toBe('closed');
});

test('a pull request is an issue to read, but its label is no event of issues', async () => {
  const made = await admin().pulls.create({ ...at, head: 'work', base: 'main', title: 'B' });
  const issue = { ...at, issue_number: made.data.number };
  expect((await admin().issues.get(issue)).data.pull_request?.url).toBe(made.data.url);
  await admin().issues.addLabels({ ...issue, labels: ['bug'] });
  await admin().issues.createComment({ ...issue, body: 'x' });
  await github.settle();
  expect(receiver.names()).toEqual(['issue_comment.created']);
  expect(receiver.received[0]?.payload.issue).toMatchObject({ pull_request: { url: made.data.url } });
});
