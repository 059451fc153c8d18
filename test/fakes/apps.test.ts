import { Octokit } from '@octokit/rest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GitHubStandIn, startGitHub } from './github.ts';
import { appClient, jwtOf, startReceiver, statusOf } from './support.ts';

let github: GitHubStandIn;
let nowMs = Date.now();
const at = { owner: 'acme', repo: 'apps' };

beforeAll(async () => {
  github = await startGitHub({ now: () => nowMs });
  await github.createRepo({ owner: 'acme', name: 'apps' });
  await github.createRepo({ owner: 'acme', name: 'other', private: true });
});
afterAll(() => github.close());

function withJwt(times: { iat: number; exp: number }): Octokit {
  return github.octokit(jwtOf(github, Math.floor(nowMs / 1000), times));
}

test('a JWT holds for ten minutes at most', async () => {
  expect((await withJwt({ iat: -60, exp: 600 }).apps.getAuthenticated()).data?.slug).toBe('lanekeeper');
  expect(await statusOf(withJwt({ iat: 0, exp: 660 }).apps.getAuthenticated())).toBe(401);
  expect(await statusOf(withJwt({ iat: -700, exp: -100 }).apps.getAuthenticated())).toBe(401);
  expect(await statusOf(withJwt({ iat: 60, exp: 300 }).apps.getAuthenticated())).toBe(401);
  const good = jwtOf(github, Math.floor(nowMs / 1000), { iat: -60, exp: 300 });
  const forged = github.octokit(`${good.slice(0, -4)}AAAA`);
  expect(await statusOf(forged.apps.getAuthenticated())).toBe(401);
});

test('a token is narrowed to a repository and permissions, and never wider than the App', async () => {
  const app = await appClient(github);
  const mint = (wish: object) =>
    app.rest.apps.createInstallationAccessToken({ installation_id: github.installationId, ...wish });
  const { data } = await mint({ repositories: ['apps'], permissions: { contents: 'read' } });
  expect(data.permissions).toEqual({ contents: 'read', metadata: 'read' });
  const narrow = github.octokit(data.token);
  expect(
    (await narrow.apps.listReposAccessibleToInstallation()).data.repositories.map((one) => one.name),
  ).toEqual(['apps']);
  expect(await statusOf(narrow.repos.get({ owner: 'acme', repo: 'other' }))).toBe(404);
  expect(await statusOf(narrow.issues.create({ ...at, title: 'x' }))).toBe(403);
  expect(
    await statusOf(narrow.reactions.createForIssue({ ...at, issue_number: 1, content: 'eyes' })),
  ).not.toBe(0);
  expect(await statusOf(mint({ permissions: { contents: 'write' } }))).toBe(422);
  expect(await statusOf(mint({ repositories: ['elsewhere'] }))).toBe(422);
});

test('a token ends after an hour, or when it is revoked', async () => {
  const app = await appClient(github);
  const mint = async () => {
    const { data } = await app.rest.apps.createInstallationAccessToken({
      installation_id: github.installationId,
    });
    return github.octokit(data.token);
  };
  const revoked = await mint();
  await revoked.apps.revokeInstallationAccessToken();
  expect(await statusOf(revoked.repos.get(at))).toBe(401);
  const aging = await mint();
  expect((await aging.repos.get(at)).status).toBe(200);
  nowMs += 61 * 60 * 1000;
  expect(await statusOf(aging.repos.get(at))).toBe(401);
  nowMs -= 61 * 60 * 1000;
});

test('the installation of a repository is found, and an owner without one is 404', async () => {
  const app = await appClient(github);
  expect((await app.rest.apps.getRepoInstallation(at)).data.id).toBe(github.installationId);
  expect((await app.rest.apps.listInstallations()).data.map((one) => one.account?.url)).toHaveLength(1);
  expect(await statusOf(app.rest.apps.getOrgInstallation({ org: 'globex' }))).toBe(404);
});

const manifest = {
  name: 'My Keeper',
  url: 'https://example.test',
  redirect_url: 'http://127.0.0.1:9/setup/callback?from=here',
  hook_attributes: { url: 'http://127.0.0.1:9/api/github/webhooks' },
  default_permissions: { issues: 'write', contents: 'read', members: 'read' },
  default_events: ['issues'],
};

function submit(text: string, state: string): Promise<Response> {
  const url = `${github.url}/settings/apps/new?state=${encodeURIComponent(state)}`;
  return fetch(url, { method: 'POST', body: new URLSearchParams({ manifest: text }), redirect: 'manual' });
}

test('a manifest makes an App with its own key, secret, hook and permissions; the code works once', async () => {
  const redirect = await submit(JSON.stringify(manifest), 'a&b');
  expect(redirect.status).toBe(302);
  const target = new URL(redirect.headers.get('location') ?? '');
  expect(target.searchParams.get('from')).toBe('here');
  expect(target.searchParams.get('state')).toBe('a&b');
  const code = target.searchParams.get('code') ?? '';
  const nobody = new Octokit({ baseUrl: github.url, log: { debug() {}, info() {}, warn() {}, error() {} } });
  const { data } = await nobody.apps.createFromManifest({ code });
  expect(data).toMatchObject({ slug: 'my-keeper', permissions: { issues: 'write', metadata: 'read' } });
  expect(data.id).not.toBe(github.appId);
  expect(await statusOf(nobody.apps.createFromManifest({ code }))).toBe(404);
  const receiver = await startReceiver(data.webhook_secret ?? '');
  const made = { ...github, appId: data.id, privateKey: data.pem };
  const app = await appClient(made);
  // octokit's own method takes `url` for the address of the request
  await app.request({ method: 'PATCH', url: '/app/hook/config', data: { url: receiver.url } });
  const control = { authorization: `token ${github.token}`, 'content-type': 'application/json' };
  const installed = await fetch(`${github.url}/_control/installations`, {
    method: 'POST',
    headers: control,
    body: JSON.stringify({ owner: 'acme', app: 'my-keeper' }),
  });
  const { id } = (await installed.json()) as { id: number };
  expect([installed.status, id]).toEqual([200, expect.any(Number)]);
  const issue = await github.octokit(github.token).issues.create({ ...at, title: 'A' });
  const keeper = await appClient(made, id);
  const comment = await keeper.rest.issues.createComment({
    ...at,
    issue_number: issue.data.number,
    body: 'x',
  });
  expect(comment.data.user?.login).toBe('my-keeper[bot]');
  await github.settle();
  expect(receiver.names()).toEqual(['installation.created', 'issues.opened']);
  expect(receiver.received.every((one) => one.signed)).toBe(true);
  await receiver.close();
});

test('a manifest that is not JSON, or has no usable URL, is refused with the reason', async () => {
  expect((await submit('{', 's')).status).toBe(422);
  const bad = await submit(JSON.stringify({ ...manifest, hook_attributes: {} }), 's');
  expect(await bad.text()).toMatch(/url must be a valid URL/);
});

test('a manifest can be typed into the page by hand', async () => {
  const page = await fetch(`${github.url}/settings/apps/new?state=${encodeURIComponent('"><x')}`);
  const html = await page.text();
  expect(html).toContain('name="manifest"');
  expect(html).not.toContain('"><x');
});
