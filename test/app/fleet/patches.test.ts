import { createHash, randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { type Engine, findReceipts, openPatch, openUploads, openWorkplace } from '../../../lanes/index.ts';
import { type ClaimAnswer, maxPatchBytes } from '../../../lanes/records/fleet.ts';
import type { PatchRef } from '../../../lanes/records/runs.ts';
import { agentLane } from '../../support/engine.ts';
import { callerNamed, lane, met, newTask, result } from '../../support/tasks.ts';
import { until } from '../../support/until.ts';
import { useEngine } from '../../support/use-engine.ts';
import { call, claimed, type FleetWorld, piece, refusedWith, startFleet } from './support.ts';

const app = callerNamed('app', [lane, agentLane]);
const sha = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const patch = Buffer.from('diff --git a/x b/x\n'.repeat(5_000));
let engine: Engine;
let world: FleetWorld;
let claim: ClaimAnswer;

useEngine((opened) => {
  ({ engine } = opened);
});
afterAll(() => world.stop());
beforeEach(async () => {
  await world?.stop();
  world = await startFleet(engine);
  await engine.admit(app, newTask({ namespace: agentLane, lane: 'boxed' }));
  claim = await claimed(world);
});

const place = () => openWorkplace({ dataDir: world.dataDir, instance: 'app', now: Date.now, id: () => 'id' });
const url = () => `/leases/${claim.lease}/patch`;
const put = (body: Buffer, headers: Record<string, string>) => call(world, 'PUT', url(), { body, headers });
const head = async () => {
  const { status, headers } = await call(world, 'HEAD', url());
  return [status, headers.get('upload-offset'), headers.get('upload-complete')];
};
const refOf = (bytes: Buffer, more: Partial<PatchRef> = {}): PatchRef => ({
  copy: 'copy-on-the-box',
  worker: 'box-42',
  run: claim.run,
  base: 'a'.repeat(40),
  tree: 'b'.repeat(40),
  sha256: sha(bytes),
  bytes: bytes.length,
  files: 1,
  partial: false,
  ...more,
});
const complete = (ref: PatchRef) => {
  const end = result([met('c1')], { patch: ref });
  return call(world, 'POST', `/leases/${claim.lease}/complete`, { json: { end } });
};
/** What lies in the outbox, half patches too. */
const outbox = () => {
  const folder = join(world.dataDir, 'outbox');
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);
};

/** Begins to send a piece and stops after `first`; the connection stays open until it is cut. */
function beginToSend(headers: Record<string, string>, first: Buffer, length: number): { cut(): void } {
  const sent = request(`${world.url}/fleet/v1${url()}`, {
    method: 'PUT',
    headers: { ...headers, authorization: `Bearer ${world.token}`, 'content-length': length },
  });
  sent.on('error', () => {});
  sent.write(first);
  return { cut: () => void sent.destroy() };
}

test('a patch in one piece is whole, and its receipt is found where a local one is', async () => {
  expect(await head()).toEqual([200, '0', null]);
  const answer = await put(patch, piece(0, patch, sha(patch)));
  expect([answer.status, answer.body]).toEqual([200, { complete: true, offset: patch.length }]);
  expect(await head()).toEqual([200, String(patch.length), '?1']);
  expect((await complete(refOf(patch))).body).toEqual({ state: 'closing' });
  const at = await place();
  const [receipt] = await findReceipts(at, claim.task);
  if (receipt === undefined) throw new Error('no receipt');
  expect(receipt).toMatchObject({ task: claim.task, run: 1, sha256: sha(patch), bytes: patch.length });
  expect(await textOf(openPatch(at, receipt))).toBe(patch.toString());
  const task = await engine.get(app, agentLane, claim.task);
  expect(task?.patch).toMatchObject({ copy: receipt.copy, worker: 'box-42', sha256: sha(patch) });
});

test('the name that a box gives to its copy is no path here', async () => {
  await put(patch, piece(0, patch, sha(patch)));
  await complete(refOf(patch, { copy: '../../../escape', worker: 'another' }));
  const task = await engine.get(app, agentLane, claim.task);
  expect(task?.patch).toMatchObject({ copy: expect.stringMatching(/^box-[a-z0-9-]+$/), worker: 'box-42' });
  expect(outbox().filter((name) => name.includes('escape'))).toEqual([]);
});

test('a patch comes in pieces', async () => {
  const half = 30_000;
  const first = await put(patch.subarray(0, half), piece(0, patch, sha(patch)));
  expect(first.body).toEqual({ complete: false, offset: half });
  expect((await complete(refOf(patch))).status).toBe(422);
  const rest = await put(patch.subarray(half), piece(half, patch, sha(patch)));
  expect(rest.body).toEqual({ complete: true, offset: patch.length });
  expect((await complete(refOf(patch))).status).toBe(200);
});

test('a patch that was cut goes on from where it stopped, also in another process', async () => {
  const half = patch.subarray(0, 30_000);
  const sending = beginToSend(piece(0, patch, sha(patch)), half, patch.length);
  await until('the half is here', async () => (await head())[1] === String(half.length));
  sending.cut();
  const again = await startFleet(engine, { ...world.deps, uploads: openUploads(await place()) });
  const headers = piece(half.length, patch, sha(patch));
  const answer = await call({ url: again.url, token: world.token }, 'PUT', url(), {
    body: patch.subarray(half.length),
    headers,
  });
  expect(answer.body).toEqual({ complete: true, offset: patch.length });
  await again.stop();
});

test('of two pieces at once the second is refused, and told where the patch ends', async () => {
  const half = patch.subarray(0, 30_000);
  const sending = beginToSend(piece(0, patch, sha(patch)), half, patch.length);
  await until('the half is here', async () => (await head())[1] === String(half.length));
  const second = await put(patch.subarray(half.length), piece(half.length, patch, sha(patch)));
  expect(refusedWith(second)).toEqual([409, 'task_conflict']);
  expect(second.headers.get('upload-offset')).toBe(String(half.length));
  sending.cut();
  const done = await until('the way is free', async () => {
    const answer = await put(patch.subarray(half.length), piece(half.length, patch, sha(patch)));
    return answer.status === 200 && answer;
  });
  expect(done.body).toEqual({ complete: true, offset: patch.length });
});

test('a piece that does not begin where the patch ends is refused', async () => {
  const answer = await put(patch.subarray(10), piece(10, patch, sha(patch)));
  expect(refusedWith(answer)).toEqual([409, 'task_conflict']);
  expect(answer.headers.get('upload-offset')).toBe('0');
});

test('a patch with another hash is thrown away', async () => {
  const answer = await put(patch, piece(0, patch, sha(Buffer.from('other'))));
  expect(refusedWith(answer)).toEqual([422, 'invalid_result']);
  expect(await head()).toEqual([200, '0', null]);
  expect(outbox()).toEqual([]);
  expect((await put(patch, piece(0, patch, sha(patch)))).status).toBe(200);
});

test('the same whole patch may be told again, another one not', async () => {
  await put(patch, piece(0, patch, sha(patch)));
  const again = await put(Buffer.alloc(0), piece(patch.length, patch, sha(patch)));
  expect(again.body).toEqual({ complete: true, offset: patch.length });
  const other = await put(Buffer.alloc(0), piece(patch.length, patch, sha(Buffer.from('other'))));
  expect(refusedWith(other)).toEqual([409, 'task_conflict']);
});

test('a patch that is longer than it may be, or than it said, is refused', async () => {
  const huge = { ...piece(0, patch, sha(patch)), 'upload-length': String(maxPatchBytes + 1) };
  expect(refusedWith(await put(Buffer.from('x'), huge))).toEqual([413, 'invalid_result']);
  const short = piece(0, patch.subarray(0, 100), sha(patch.subarray(0, 100)));
  expect(refusedWith(await put(patch, short))).toEqual([413, 'invalid_result']);
  expect(outbox()).toEqual([]);
});

test('a body without a length is cut where it is longer than it said', async () => {
  const short = piece(0, patch.subarray(0, 100), sha(patch.subarray(0, 100)));
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const sent = request(`${world.url}/fleet/v1${url()}`, {
      method: 'PUT',
      headers: { ...short, authorization: `Bearer ${world.token}`, 'transfer-encoding': 'chunked' },
    });
    sent.on('response', (response) => resolve(response.resume().statusCode));
    sent.on('error', reject);
    sent.end(patch.subarray(0, 1_000));
  });
  expect(status).toBe(422);
  expect(outbox()).toEqual([]);
});

test('headers that are no numbers are refused', async () => {
  const good = piece(0, patch, sha(patch));
  for (const wrong of [
    { 'upload-offset': '-1' },
    { 'upload-offset': '0x10' },
    { 'upload-length': '1e9' },
    { 'upload-sha256': 'z'.repeat(64) },
    { 'upload-sha256': '../../x' },
  ]) {
    expect(refusedWith(await put(patch, { ...good, ...wrong }))).toEqual([400, 'invalid_request']);
  }
});

test('a run that names a patch which never came, or another one, is not recorded', async () => {
  expect(refusedWith(await complete(refOf(patch)))).toEqual([422, 'invalid_result']);
  await put(patch, piece(0, patch, sha(patch)));
  expect(refusedWith(await complete(refOf(Buffer.from('other'))))).toEqual([422, 'invalid_result']);
  expect(refusedWith(await complete(refOf(patch, { base: 'HEAD' })))).toEqual([422, 'invalid_result']);
  expect((await engine.get(app, agentLane, claim.task))?.state).toBe('running');
  expect((await complete(refOf(patch))).status).toBe(200);
});

test('a patch of a lease that was lost on the way is no result', async () => {
  const half = patch.subarray(0, 30_000);
  await put(half, piece(0, patch, sha(patch)));
  await engine.takeBack(app, agentLane, claim.task, 'a test');
  const late = await put(patch.subarray(half.length), piece(half.length, patch, sha(patch)));
  expect(refusedWith(late)).toEqual([409, 'lease_lost']);
  expect(refusedWith(await complete(refOf(patch)))).toEqual([409, 'lease_lost']);
  expect(await findReceipts(await place(), claim.task)).toEqual([]);
});

test('of a big patch no more than a piece is in memory: each is on the disk before the next is taken', async () => {
  const whole = randomBytes(8 * 1024 ** 2);
  const lease = world.deps.leases.open(claim.lease);
  if (lease === null) throw new Error('not ours');
  const { uploads } = world.deps;
  async function* pieces(held: NonNullable<typeof lease>) {
    for (let at = 0; at < whole.length; at += 64 * 1024) {
      expect((await uploads.state(held)).offset).toBe(at);
      yield whole.subarray(at, at + 64 * 1024);
    }
  }
  const given = { offset: 0, length: whole.length, sha256: sha(whole) };
  const answer = await uploads.append(lease, given, pieces(lease), async () => {});
  expect(answer).toEqual({ complete: true, offset: whole.length });
});

test('whoever waits for leave to send a patch hears a refusal first', async () => {
  const told = await new Promise<string>((resolve, reject) => {
    const sent = request(`${world.url}/fleet/v1${url()}`, {
      method: 'PUT',
      headers: {
        ...piece(0, patch, sha(patch)),
        authorization: `Bearer ${world.other}`,
        'content-length': patch.length,
        expect: '100-continue',
      },
    });
    sent.on('continue', () => resolve('go on'));
    sent.on('response', (response) => resolve(String(response.resume().statusCode)));
    sent.on('error', reject);
    sent.flushHeaders();
  });
  expect(told).toBe('409');
});

test('whoever waits for leave to send a patch gets it', async () => {
  const told = await new Promise<string[]>((resolve, reject) => {
    const heard: string[] = [];
    const sent = request(`${world.url}/fleet/v1${url()}`, {
      method: 'PUT',
      headers: {
        ...piece(0, patch, sha(patch)),
        authorization: `Bearer ${world.token}`,
        'content-length': patch.length,
        expect: '100-continue',
      },
    });
    sent.on('continue', () => {
      heard.push('go on');
      sent.end(patch);
    });
    sent.on('response', (response) => resolve([...heard, String(response.resume().statusCode)]));
    sent.on('error', reject);
    sent.flushHeaders();
  });
  expect(told).toEqual(['go on', '200']);
});
