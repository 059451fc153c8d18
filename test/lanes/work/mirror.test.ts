import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { mirrorPath, syncMirror } from '../../../lanes/work/mirror.ts';
import { pin, unpin } from '../../../lanes/work/pins.ts';
import { forever, makePlace, makeRemote, put, sh, temporaryFolder } from './support.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

const source = (remote: string) => ({ repositoryId: 7, cloneUrl: `file://${remote}` });

it("a mirror follows the default branch's head, whatever its name", async () => {
  const place = await makePlace();
  const remote = makeRemote({ a: '1' });
  const first = sh(remote, 'git', 'rev-parse', 'HEAD');
  expect(await syncMirror(place, source(remote), forever)).toEqual({
    kind: 'synced',
    base: first,
    branch: 'trunk',
  });
  put(remote, 'a', '2');
  sh(remote, 'git', 'commit', '-q', '-a', '-m', 'second');
  sh(remote, 'git', 'checkout', '-q', '-b', 'feature/x');
  put(remote, 'a', '3');
  sh(remote, 'git', 'commit', '-q', '-a', '-m', 'third');
  const third = sh(remote, 'git', 'rev-parse', 'HEAD');
  expect(await syncMirror(place, source(remote), forever)).toEqual({
    kind: 'synced',
    base: third,
    branch: 'feature/x',
  });
});

it('a head that has not moved is not fetched again; one that moves back is', async () => {
  const place = await makePlace();
  const remote = makeRemote({ a: '1' });
  const first = await syncMirror(place, source(remote), forever);
  put(remote, 'a', '2');
  sh(remote, 'git', 'commit', '-q', '-a', '-m', 'second');
  const second = await syncMirror(place, source(remote), forever);
  // The first thing that a fetch does is to clear this away.
  const stale = 'refs/lanekeeper-head/default.lock';
  put(mirrorPath(place, 7), stale, '');
  expect(await syncMirror(place, source(remote), forever)).toEqual(second);
  expect(existsSync(join(mirrorPath(place, 7), stale))).toBe(true);
  sh(remote, 'git', 'reset', '-q', '--hard', 'HEAD^');
  expect(await syncMirror(place, source(remote), forever)).toEqual(first);
});

it('a repository without commits is an outcome of its own', async () => {
  const place = await makePlace();
  const remote = temporaryFolder();
  sh(remote, 'git', 'init', '-q', '--bare', '.');
  expect(await syncMirror(place, source(remote), forever)).toEqual({ kind: 'empty_repository' });
});

it('workers that fetch at the same time all succeed', async () => {
  const place = await makePlace();
  const remote = makeRemote({ a: '1' });
  const all = await Promise.all(Array.from({ length: 6 }, () => syncMirror(place, source(remote), forever)));
  expect(new Set(all.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
});

it('a rewritten history is followed', async () => {
  const place = await makePlace();
  const remote = makeRemote({ a: '1' });
  await syncMirror(place, source(remote), forever);
  sh(remote, 'git', 'commit', '-q', '--amend', '-m', 'rewritten');
  const base = sh(remote, 'git', 'rev-parse', 'HEAD');
  expect(await syncMirror(place, source(remote), forever)).toMatchObject({ base });
});

it('a pinned base outlives the clean-up of the mirror, an unpinned one need not', async () => {
  const place = await makePlace();
  const remote = makeRemote({ a: '1' });
  const outcome = await syncMirror(place, source(remote), forever);
  if (outcome.kind !== 'synced') throw new Error(outcome.kind);
  await pin(place, 7, 'copy-1', outcome.base);
  sh(remote, 'git', 'commit', '-q', '--amend', '-m', 'rewritten');
  await syncMirror(place, source(remote), forever);
  const mirror = mirrorPath(place, 7);
  const isThere = () => sh(mirror, 'sh', '-c', `git cat-file -e ${outcome.base} && echo yes || echo no`);
  sh(mirror, 'git', 'gc', '-q', '--prune=now');
  expect(isThere()).toBe('yes');
  await unpin(place, 7, 'copy-1');
  await unpin(place, 7, 'copy-1');
  sh(mirror, 'git', 'gc', '-q', '--prune=now');
  expect(isThere()).toBe('no');
});

it('lock files that a dead git left do not stop the next one', async () => {
  const place = await makePlace();
  const remote = makeRemote({ a: '1' });
  const outcome = await syncMirror(place, source(remote), forever);
  if (outcome.kind !== 'synced') throw new Error(outcome.kind);
  const mirror = mirrorPath(place, 7);
  put(remote, 'a', '2');
  sh(remote, 'git', 'commit', '-q', '-a', '-m', 'second');
  const stale = ['packed-refs.lock', 'refs/lanekeeper-head/default.lock', 'refs/lanekeeper/c.lock'];
  for (const path of stale) put(mirror, path, '');
  expect(await syncMirror(place, source(remote), forever)).not.toEqual(outcome);
  await pin(place, 7, 'c', outcome.base);
  for (const path of stale) put(mirror, path, '');
  await unpin(place, 7, 'c');
  expect(sh(mirror, 'git', 'for-each-ref', 'refs/lanekeeper/')).toBe('');
  expect(existsSync(join(mirror, 'refs/lanekeeper/c.lock'))).toBe(false);
});

it('a remote that is gone is a typed error, and the mirror stays', async () => {
  const place = await makePlace();
  const remote = makeRemote({ a: '1' });
  await syncMirror(place, source(remote), forever);
  rmSync(remote, { recursive: true });
  await expect(syncMirror(place, source(remote), forever)).rejects.toMatchObject({ code: 'git_failed' });
  expect(existsSync(join(mirrorPath(place, 7), 'HEAD'))).toBe(true);
});

it('protocols that could run a program are refused', async () => {
  const place = await makePlace();
  const canary = join(temporaryFolder(), 'canary');
  const cloneUrl = `ext::touch ${canary}`;
  await expect(syncMirror(place, { repositoryId: 7, cloneUrl }, forever)).rejects.toMatchObject({
    code: 'git_failed',
  });
  await expect(
    syncMirror(place, { repositoryId: 7, cloneUrl: `--upload-pack=touch ${canary}` }, forever),
  ).rejects.toMatchObject({ code: 'git_failed' });
  expect(existsSync(canary)).toBe(false);
});

async function httpRemote(answer: (authorization: string | undefined) => [number, Record<string, string>]) {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(...answer(request.headers.authorization)).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUps.push(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  return { seen, url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}` };
}

it('a token reaches the server as a header, and no error, argument or file', async () => {
  const place = await makePlace();
  const token = 'ghs_secretsecretsecret';
  const remote = await httpRemote(() => [403, {}]);
  const failed = syncMirror(place, { repositoryId: 7, cloneUrl: `${remote.url}/o/r.git`, token }, forever);
  const error = await failed.catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'git_failed' });
  const basic = Buffer.from(`x-access-token:${token}`).toString('base64');
  expect(remote.seen).toContain(`Basic ${basic}`);
  const text = `${error} ${JSON.stringify(error, Object.getOwnPropertyNames(error))}`;
  expect(text).not.toContain(token);
  expect(text).not.toContain(basic);
  expect(readFileSync(join(mirrorPath(place, 7), 'config'), 'utf8')).not.toContain('extraHeader');
});

it('a token does not follow a redirect to another host', async () => {
  const place = await makePlace();
  const thief = await httpRemote(() => [404, {}]);
  const remote = await httpRemote(() => [
    301,
    { location: `${thief.url}/o/r.git/info/refs?service=git-upload-pack` },
  ]);
  const cloneUrl = `${remote.url}/o/r.git`;
  await expect(syncMirror(place, { repositoryId: 7, cloneUrl, token: 'ghs_x' }, forever)).rejects.toThrow();
  expect(remote.seen).toHaveLength(1);
  expect(thief.seen).toEqual([]);
});

it('a fetch can be stopped', async () => {
  const place = await makePlace();
  const stop = new AbortController();
  const silent = createServer(() => stop.abort(new Error('shutdown'))).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  cleanUps.push(() => {
    silent.closeAllConnections();
    silent.close();
  });
  const address = silent.address();
  const cloneUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/r.git`;
  await expect(syncMirror(place, { repositoryId: 7, cloneUrl }, stop.signal)).rejects.toThrow('shutdown');
});
