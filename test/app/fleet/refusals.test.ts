import { createHmac, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { makeLeaseTexts } from '../../../app/fleet/lease-text.ts';
import { revokeToken, tokenFile } from '../../../app/fleet/token-file.ts';
import type { Engine } from '../../../lanes/index.ts';
import { agentLane } from '../../support/engine.ts';
import { callerNamed, lane, met, newTask, result } from '../../support/tasks.ts';
import { useEngine } from '../../support/use-engine.ts';
import { type Answer, call, claimed, type FleetWorld, refusedWith, startFleet } from './support.ts';

const app = callerNamed('app', [lane, agentLane]);
let engine: Engine;
let world: FleetWorld;

useEngine((opened) => {
  ({ engine } = opened);
});
afterAll(() => world.stop());
beforeEach(async () => {
  await world?.stop();
  world = await startFleet(engine);
  for (const task of await engine.list(app, agentLane, ['queued', 'running'])) {
    await engine.cancel(app, agentLane, task.id, { reason: 'over' });
  }
});

const admit = () => engine.admit(app, newTask({ namespace: agentLane, lane: 'boxed' }));
const read = (task: string) => engine.get(app, agentLane, task);
const complete = (lease: string, token?: string): Promise<Answer> =>
  call(world, 'POST', `/leases/${lease}/complete`, {
    json: { end: result([met('c1')]) },
    ...(token === undefined ? {} : { token }),
  });

/** Every call that needs a lease. */
const everyCall = ['heartbeat', 'begin', 'lookup', 'complete', 'park'] as const;
const bodies = {
  heartbeat: {},
  begin: undefined,
  lookup: { query: { kind: 'issue', number: 1 } },
  complete: { end: result([met('c1')]) },
  park: { handBack: 'x' },
};
async function everywhere(lease: string, token = world.token): Promise<[number, string][]> {
  const posts = everyCall.map((name) =>
    call(world, 'POST', `/leases/${lease}/${name}`, { token, json: bodies[name] }),
  );
  const headers = { 'upload-offset': '0', 'upload-length': '1', 'upload-sha256': 'a'.repeat(64) };
  const rest = [
    call(world, 'GET', `/leases/${lease}/checkout`, { token }),
    call(world, 'GET', `/leases/${lease}/patch`, { token }),
    call(world, 'PUT', `/leases/${lease}/patch`, { token, headers, body: 'x' }),
  ];
  return (await Promise.all([...posts, ...rest])).map(refusedWith);
}

test('nobody is let in without a token that is known', async () => {
  const forged = `${world.token.slice(0, -1)}${world.token.endsWith('A') ? 'B' : 'A'}`;
  const id = world.token.slice(4, 12);
  for (const token of [
    null,
    '',
    'x',
    forged,
    `lkw_00000000_${'A'.repeat(43)}`,
    `lkw_${id}_`,
    ` ${world.token}x`,
  ]) {
    expect(refusedWith(await call(world, 'GET', '/pending', { token }))).toEqual([401, 'identity_required']);
  }
  expect(world.refusals.every(({ by, code }) => by === '' && code === 'identity_required')).toBe(true);
  expect(world.refusals).toHaveLength(7);
});

test('a name in the request is not an identity', async () => {
  const headers = { 'x-worker': 'box-42', 'x-forwarded-user': 'box-42' };
  const answer = await call(world, 'POST', '/claim', {
    token: null,
    headers,
    json: { namespace: agentLane },
  });
  expect(refusedWith(answer)).toEqual([401, 'identity_required']);
});

test('a fleet namespace is off limits to every other worker, and its task stays as it is', async () => {
  const { id } = await admit();
  const before = await read(id);
  const { other: token } = world;
  const look = await call(world, 'GET', `/pending?namespace=${agentLane}`, { token });
  expect(refusedWith(look)).toEqual([403, 'fleet_queue_off_limits']);
  const theft = await call(world, 'POST', '/claim', { token, json: { namespace: agentLane } });
  expect(refusedWith(theft)).toEqual([403, 'fleet_queue_off_limits']);
  expect((await call(world, 'GET', '/pending', { token })).body).toEqual({
    pending: 0,
    namespaces: { [lane]: 0 },
  });
  expect(await read(id)).toEqual(before);
});

test('the unscoped look leaves fleet namespaces out', async () => {
  await admit();
  expect((await call(world, 'GET', '/pending')).body).toEqual({ pending: 0, namespaces: {} });
});

test('a lane that is not granted is refused, and a namespace that is none', async () => {
  const claim = (namespace: unknown) => call(world, 'POST', '/claim', { json: { namespace } });
  expect(refusedWith(await claim(lane))).toEqual([403, 'namespace_not_granted']);
  for (const name of [
    'agent:42 ',
    'Agent:42',
    'agent:x:ctl',
    '*',
    'agent:42}',
    'agent:４２',
    '',
    'lane:*',
    'agent:9',
  ]) {
    expect(refusedWith(await claim(name))).toEqual([404, 'unknown_namespace']);
  }
});

test('a lease text that we did not make is lost, everywhere', async () => {
  await admit();
  const { lease } = await claimed(world);
  const [said = '', signature = ''] = lease.split('.');
  const claims = JSON.parse(Buffer.from(said, 'base64url').toString());
  const text = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const key = randomBytes(32);
  const signed = (algorithm: string, secret: Buffer) =>
    createHmac(algorithm, secret).update(said).digest('base64url');
  const wrong = [
    `${text({ ...claims, fence: claims.fence + 1 })}.${signature}`,
    `${text({ ...claims, worker: 'box-7' })}.${signature}`,
    said,
    `${said}.`,
    `${said}.${signature.slice(0, -1)}`,
    lease.slice(1),
    `${lease}A`,
    `${said}.${signed('sha256', key)}`,
    `${said}.${signed('sha512', key)}`,
    `${said}.${signed('sha1', key)}`,
    `${text({ alg: 'none' })}.${said}.`,
    `${text({ alg: 'HS256' })}.${said}.${signature}`,
    '0',
    'null',
    'a'.repeat(3_000),
  ];
  for (const one of wrong) {
    expect(new Set((await everywhere(one)).map(String))).toEqual(new Set(['409,lease_lost']));
  }
  expect(refusedWith(await complete(`${lease.replace('.', '%2e')}%00`))).toEqual([409, 'lease_lost']);
  expect((await complete(lease)).status).toBe(200);
});

test('a lease signed with the key of another installation is lost', async () => {
  await admit();
  const { lease } = await claimed(world);
  const opened = world.deps.leases.open(lease);
  if (opened === null) throw new Error('not ours');
  const foreign = makeLeaseTexts(randomBytes(32)).seal(opened);
  expect(refusedWith(await complete(foreign))).toEqual([409, 'lease_lost']);
});

test('the lease of another worker is lost, whoever carries it', async () => {
  await admit();
  const { lease } = await claimed(world);
  expect(new Set((await everywhere(lease, world.other)).map(String))).toEqual(new Set(['409,lease_lost']));
  const named = world.refusals.filter(({ by }) => by === 'box-7');
  expect(new Set(named.map(({ namespace, code }) => `${namespace} ${code}`))).toEqual(
    new Set([`${agentLane} lease_lost`]),
  );
  expect((await complete(lease)).status).toBe(200);
});

test('a lease for another namespace, signed by us, is lost in the store', async () => {
  await admit();
  const { lease } = await claimed(world);
  const opened = world.deps.leases.open(lease);
  if (opened === null) throw new Error('not ours');
  const elsewhere = world.deps.leases.seal({ ...opened, namespace: lane, worker: 'box-7' });
  const codes = await everywhere(elsewhere, world.other);
  expect(new Set(codes.map(String))).toEqual(new Set(['409,lease_lost']));
});

test('a lease from before a new claim is lost, and a replayed one', async () => {
  const { id } = await admit();
  const first = await claimed(world);
  await call(world, 'POST', `/leases/${first.lease}/park`, { json: { handBack: 'again' } });
  const second = await claimed(world);
  expect(new Set((await everywhere(first.lease)).map(String))).toEqual(new Set(['409,lease_lost']));
  expect((await complete(second.lease)).status).toBe(200);
  const before = await read(id);
  const replayed = await call(world, 'POST', `/leases/${second.lease}/heartbeat`, { json: {} });
  expect(refusedWith(replayed)).toEqual([409, 'lease_lost']);
  expect(await read(id)).toEqual(before);
});

test('a revoked token is refused at the next call, and its run is taken back, not counted', async () => {
  const { id } = await admit();
  const { lease } = await claimed(world);
  await revokeToken(world.dataDir, world.token.slice(4, 12), 3);
  const beat = await call(world, 'POST', `/leases/${lease}/heartbeat`, { json: {} });
  expect(refusedWith(beat)).toEqual([401, 'identity_required']);
  expect(await read(id)).toMatchObject({ state: 'queued', runsUsed: 0 });
  expect(world.refusals.at(-1)).toMatchObject({
    by: 'box-42',
    verb: 'fleet.heartbeat',
    code: 'identity_required',
  });
});

test('a worker without grants is refused, and its run is taken back, not counted', async () => {
  const { id } = await admit();
  const { lease } = await claimed(world);
  const after = await startFleet(engine, { grants: new Map([['box-7', [lane]]]), leases: world.deps.leases });
  const beat = await call(after, 'POST', `/leases/${lease}/heartbeat`, { json: {} });
  expect(refusedWith(beat)).toEqual([403, 'namespace_not_granted']);
  expect(await read(id)).toMatchObject({ state: 'queued', runsUsed: 0 });
  await after.stop();
});

test('a worker whose grant for this namespace is gone loses the run, not counted', async () => {
  const { id } = await admit();
  const { lease } = await claimed(world);
  const after = await startFleet(engine, {
    grants: new Map([['box-42', [lane]]]),
    leases: world.deps.leases,
  });
  const beat = await call(after, 'POST', `/leases/${lease}/heartbeat`, { json: {} });
  expect(refusedWith(beat)).toEqual([403, 'fleet_queue_off_limits']);
  expect(await read(id)).toMatchObject({ state: 'queued', runsUsed: 0 });
  await after.stop();
});

test('a token file that is damaged, or that others can read, lets nobody in', async () => {
  writeFileSync(tokenFile(world.dataDir), '{ "v": 1, "tokens": [ { "id": "x" } ] }');
  expect(refusedWith(await call(world, 'GET', '/pending'))).toEqual([401, 'identity_required']);
  expect(world.logged()).toContain('no box is let in');
});

test('hostile bodies are refused and change nothing', async () => {
  await admit();
  const claim = (body: string | Buffer) => call(world, 'POST', '/claim', { body }).then(refusedWith);
  const wrong = [
    'not json',
    '[]',
    'null',
    '"x"',
    '{}',
    '{"namespace":42}',
    `{"namespace":"${agentLane}","waitMs":-1}`,
    `{"namespace":"${agentLane}","waitMs":"1"}`,
    `{"namespace":"${agentLane}","waitMs":1e9}`,
    `{"namespace":"${agentLane}","worker":"box-7"}`,
    `{"namespace":"${agentLane}","__proto__":{"waitMs":1}}`,
    `{"namespace":"${agentLane}","constructor":{}}`,
    '['.repeat(100_000),
    Buffer.from([0xff, 0xfe, 0x00]),
    JSON.stringify({ namespace: agentLane, more: 'x'.repeat(2 * 1024 ** 2) }),
  ];
  for (const body of wrong) expect(await claim(body)).toEqual([400, 'invalid_request']);
  const { lease } = await claimed(world);
  const ends = [
    { end: { kind: 'result' } },
    { end: { ...result([met('c1')]), outcome: 'closed' } },
    { end: result([met('c1')]), state: 'complete' },
    JSON.parse('{"end":{"kind":"died","death":{"kind":"exit","code":1},"tail":"","__proto__":{"patch":1}}}'),
    {},
  ];
  for (const json of ends) {
    expect(refusedWith(await call(world, 'POST', `/leases/${lease}/complete`, { json }))).toEqual([
      400,
      'invalid_request',
    ]);
  }
  expect((await complete(lease)).status).toBe(200);
});

test('what is not there is not found, for whoever is let in', async () => {
  for (const [method, path] of [
    ['GET', '/claim'],
    ['POST', '/nothing'],
    ['DELETE', '/pending'],
  ] as const) {
    expect(refusedWith(await call(world, method, path))).toEqual([404, 'not_found']);
    expect(refusedWith(await call(world, method, path, { token: null }))).toEqual([401, 'identity_required']);
  }
});

test('without a box in the grants and without a token nothing is served', async () => {
  const none = await startFleet(engine, {
    expectsBoxes: false,
    tokens: { any: () => false, identify: () => ({ kind: 'unknown' }) },
  });
  expect(refusedWith(await call(none, 'GET', '/pending'))).toEqual([404, 'not_found']);
  await none.stop();
});

test('a worker with Redis of its own asks through the host port for its own runs only', async () => {
  const { id } = await admit();
  const claim = await engine.claim(callerNamed('box-42', [agentLane]), agentLane, id);
  if (claim.kind !== 'claimed') throw new Error('not claimed');
  const ask = (lease: object, token = world.token) =>
    call(world, 'POST', '/host', { token, json: { seq: 1, ask: 'allowed', lease } });
  expect((await ask(claim.lease)).body).toMatchObject({
    seq: 1,
    answer: 'allowed',
    allowed: { allowed: true },
  });
  expect(refusedWith(await ask(claim.lease, world.other))).toEqual([409, 'lease_lost']);
  expect(refusedWith(await ask({ ...claim.lease, fence: 9 }))).toEqual([409, 'lease_lost']);
  const foreign = { ...claim.lease, namespace: lane };
  expect(refusedWith(await ask(foreign))).toEqual([403, 'namespace_not_granted']);
});

test('tokens, leases and checkout tokens are never logged', async () => {
  await admit();
  const { lease } = await claimed(world);
  await call(world, 'GET', `/leases/${lease}/checkout`);
  await call(world, 'POST', `/leases/${lease}/heartbeat`, { token: world.other, json: {} });
  const broken = await startFleet(engine, {
    leases: world.deps.leases,
    host: { ...world.deps.host, checkout: () => Promise.reject(new Error('boom')) },
  });
  expect(refusedWith(await call(broken, 'GET', `/leases/${lease}/checkout`))).toEqual([500, 'internal']);
  const logged = world.logged() + broken.logged();
  expect(logged).toContain('boom');
  for (const secret of [world.token, world.other, broken.token, lease, 'ghs_checkout-token']) {
    expect(logged).not.toContain(secret.slice(-20));
  }
  await broken.stop();
});
