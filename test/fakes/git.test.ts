import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GitHubStandIn, startGitHub } from './github.ts';
import { appClient, git, statusOf } from './support.ts';

let github: GitHubStandIn;
let folder: string;
let token: string;

beforeAll(async () => {
  github = await startGitHub();
  folder = await mkdtemp(join(tmpdir(), 'standin-test-'));
  token = await mint({ contents: 'read' });
});
afterAll(async () => {
  await github.close();
  await rm(folder, { recursive: true, force: true });
});

const admin = () => github.octokit(github.token);

async function mint(permissions: Record<string, string>): Promise<string> {
  const app = await appClient(github);
  const wish = { installation_id: github.installationId, permissions };
  return (await app.rest.apps.createInstallationAccessToken(wish)).data.token;
}

test('a public repository is cloned without a token and holds the files that were committed', async () => {
  const repo = await github.createRepo({ owner: 'acme', name: 'open', files: { 'src/ä b.txt': 'hello\n' } });
  const target = join(folder, 'open');
  expect((await git(folder, ['clone', '-q', repo.cloneUrl, target])).exitCode).toBe(0);
  expect(await readFile(join(target, 'src/ä b.txt'), 'utf8')).toBe('hello\n');
  expect((await git(target, ['rev-parse', 'HEAD'])).stdout).toBe(repo.sha);
});

test('a private repository is cloned with an installation token that has contents, and by nobody else', async () => {
  const repo = await github.createRepo({ owner: 'acme', name: 'closed', private: true });
  const clone = (name: string, key?: string) =>
    git(folder, ['clone', '-q', repo.cloneUrl, join(folder, name)], key);
  expect((await clone('c1', token)).exitCode).toBe(0);
  expect((await clone('c2')).exitCode).not.toBe(0);
  expect((await clone('c3', await mint({ issues: 'read' }))).exitCode).not.toBe(0);
  expect((await clone('c4', github.people.stranger.token)).exitCode).not.toBe(0);
  expect((await clone('c5', 'ghs_invented')).exitCode).not.toBe(0);
  expect((await clone('c6', github.people.writer.token)).exitCode).toBe(0);
});

test('a 5 MB push by a person with write permission arrives; an App with contents read cannot push', async () => {
  const repo = await github.createRepo({ owner: 'acme', name: 'pushed' });
  const target = join(folder, 'pushed');
  await git(folder, ['clone', '-q', repo.cloneUrl, target]);
  const noise = Buffer.from(Array.from({ length: 5_000_000 }, (_none, index) => (index * index * 31) % 251));
  await writeFile(join(target, 'big.bin'), noise);
  await git(target, ['add', '.']);
  await git(target, ['commit', '-q', '-m', 'big']);
  expect((await git(target, ['push', '-q', 'origin', 'main'], token)).exitCode).not.toBe(0);
  expect((await git(target, ['push', '-q', 'origin', 'main'])).exitCode).not.toBe(0);
  expect((await git(target, ['push', '-q', 'origin', 'main'], github.token)).exitCode).toBe(0);
  const head = (await git(target, ['rev-parse', 'HEAD'])).stdout;
  const branch = await admin().repos.getBranch({ owner: 'acme', repo: 'pushed', branch: 'main' });
  expect(branch.data.commit.sha).toBe(head);
});

test('contents, refs, branches and commits over REST are those of git', async () => {
  const files = { '.github/lanes.yml': 'lanes: {}\n', 'a.txt': 'a\n' };
  const repo = await github.createRepo({ owner: 'acme', name: 'rest', files });
  const at = { owner: 'acme', repo: 'rest' };
  const app = await appClient(github, github.installationId);
  const file = await app.rest.repos.getContent({ ...at, path: '.github/lanes.yml' });
  const { content } = file.data as { content: string };
  expect(Buffer.from(content, 'base64').toString()).toBe('lanes: {}\n');
  const root = await app.rest.repos.getContent({ ...at, path: '' });
  expect(
    (root.data as Array<{ name: string; type: string }>).map((one) => `${one.type} ${one.name}`),
  ).toEqual(['dir .github', 'file a.txt']);
  const raw = await app.rest.repos.getContent({ ...at, path: 'a.txt', mediaType: { format: 'raw' } });
  expect(raw.data).toBe('a\n');
  const next = await github.commit(repo, { 'a.txt': null, 'b.txt': 'b\n' }, 'Swap');
  expect((await app.rest.git.getRef({ ...at, ref: 'heads/main' })).data.object.sha).toBe(next);
  const commit = await app.rest.repos.getCommit({ ...at, ref: 'main' });
  expect(commit.data).toMatchObject({ sha: next, commit: { message: 'Swap' }, parents: [{ sha: repo.sha }] });
  expect(await statusOf(app.rest.repos.getContent({ ...at, path: 'a.txt' }))).toBe(404);
  const old = await app.rest.repos.getContent({ ...at, path: 'a.txt', ref: repo.sha });
  expect(old.status).toBe(200);
});

test('a person changes a file over REST by naming the blob it replaces', async () => {
  await github.createRepo({ owner: 'acme', name: 'edits', files: { 'a.txt': 'a\n' } });
  const file = { owner: 'acme', repo: 'edits', path: 'a.txt', message: 'Edit' };
  const content = Buffer.from('b\n').toString('base64');
  expect(await statusOf(admin().repos.createOrUpdateFileContents({ ...file, content }))).toBe(422);
  const { data } = await admin().repos.getContent(file);
  const { sha } = data as { sha: string };
  const stranger = github.octokit(github.people.stranger.token);
  expect(await statusOf(stranger.repos.createOrUpdateFileContents({ ...file, content, sha }))).toBe(403);
  await admin().repos.createOrUpdateFileContents({ ...file, content, sha });
  expect(await statusOf(admin().repos.createOrUpdateFileContents({ ...file, content, sha }))).toBe(409);
});

test('a repository without commits says so', async () => {
  const repo = await github.createRepo({ owner: 'acme', name: 'empty', empty: true });
  const at = { owner: 'acme', repo: 'empty' };
  await expect(admin().repos.getContent({ ...at, path: 'a' })).rejects.toThrow(/This repository is empty/);
  expect(await statusOf(admin().git.getRef({ ...at, ref: 'heads/main' }))).toBe(409);
  expect(await statusOf(admin().repos.getBranch({ ...at, branch: 'main' }))).toBe(404);
  expect((await git(folder, ['clone', '-q', repo.cloneUrl, join(folder, 'empty')])).exitCode).toBe(0);
});

test('git follows a renamed repository', async () => {
  const repo = await github.createRepo({ owner: 'acme', name: 'before' });
  await admin().repos.update({ owner: 'acme', repo: 'before', name: 'after' });
  expect((await git(folder, ['clone', '-q', repo.cloneUrl, join(folder, 'moved')])).exitCode).toBe(0);
});
