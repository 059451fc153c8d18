import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Engine } from '../../../lanes/index.ts';
import { agentLane } from '../../support/engine.ts';
import { callerNamed, crash, criterion, lane, met, newTask, result } from '../../support/tasks.ts';
import { until } from '../../support/until.ts';
import { useEngine } from '../../support/use-engine.ts';
import { call, claimed, type FleetWorld, openHost, refusedWith, startFleet } from './support.ts';

const app = callerNamed('app', [lane, agentLane]);
let engine: Engine;
let world: FleetWorld;

useEngine((opened) => {
  ({ engine } = opened);
});
beforeAll(async () => {
  world = await startFleet(engine);
});
afterAll(() => world.stop());
/** What an earlier test left waiting is no work of the next one. */
beforeEach(async () => {
  for (const task of await engine.list(app, agentLane, ['queued', 'running'])) {
    await engine.cancel(app, agentLane, task.id, { reason: 'over' });
  }
});

const admit = (more: Parameters<typeof newTask>[0] = {}) =>
  engine.admit(app, newTask({ namespace: agentLane, lane: 'boxed', ...more }));
const read = (task: string) => engine.get(app, agentLane, task);

test('a box claims a task as itself, keeps it, and completes it', async () => {
  const { id } = await admit();
  const seen = await call(world, 'GET', `/pending?namespace=${agentLane}`);
  expect(seen.body).toEqual({ pending: 1, namespaces: { [agentLane]: 1 } });
  const claim = await claimed(world);
  expect(claim).toMatchObject({ task: id, run: 1, namespace: agentLane, heartbeatEveryMs: 5_000 });
  expect(claim.lane.name).toBe('boxed');
  expect(claim.input.criteria).toEqual([criterion('c1')]);
  expect((await read(id))?.claimedBy).toBe('box-42');
  const lease = `/leases/${claim.lease}`;
  expect((await call(world, 'POST', `${lease}/begin`)).body).toEqual({});
  const beat = await call(world, 'POST', `${lease}/heartbeat`, { json: { progress: 'half way' } });
  expect(beat.body).toEqual({ endsInMs: 15_000 });
  const looked = await call(world, 'POST', `${lease}/lookup`, {
    json: { query: { kind: 'issue', number: 3 } },
  });
  expect(looked.body).toEqual({ found: true, how: 'issue' });
  const checkout = await call(world, 'GET', `${lease}/checkout`);
  expect(checkout.body).toEqual({ url: 'http://127.0.0.1/acme/app.git', token: 'ghs_checkout-token' });
  const done = await call(world, 'POST', `${lease}/complete`, { json: { end: result([met('c1')]) } });
  expect([done.status, done.body]).toEqual([200, { state: 'closing' }]);
  expect((await read(id))?.history).toMatchObject([{ run: 1, worker: 'box-42', outcome: 'result' }]);
});

test('the same end told twice is answered the same, and recorded once', async () => {
  const { id } = await admit();
  const { lease } = await claimed(world);
  const end = result([met('c1')]);
  const tell = () => call(world, 'POST', `/leases/${lease}/complete`, { json: { end } });
  const first = await tell();
  const second = await tell();
  expect([second.status, second.body]).toEqual([first.status, first.body]);
  expect((await read(id))?.history).toHaveLength(1);
});

test('an end counts for the task as it is by then, not as it was handed out', async () => {
  const { id } = await admit();
  const { lease } = await claimed(world);
  await engine.amend(app, agentLane, id, { criteria: [criterion('c1'), criterion('c2')] });
  const end = result([met('c1')]);
  const told = await call(world, 'POST', `/leases/${lease}/complete`, { json: { end } });
  expect(told.body).toEqual({ state: 'parked', reason: 'criteria_open' });
  expect((await read(id))?.criteria).toHaveLength(2);
});

test('an end that lacks only proof is refused and nothing is recorded; parking records it', async () => {
  const { id } = await admit();
  const { lease } = await claimed(world);
  const end = result([met('c1', { evidence: [] })]);
  const before = await read(id);
  const refused = await call(world, 'POST', `/leases/${lease}/complete`, { json: { end } });
  expect(refusedWith(refused)).toEqual([422, 'proof_unverified']);
  expect(JSON.stringify(refused.body)).toContain('c1');
  expect(await read(id)).toEqual(before);
  const parked = await call(world, 'POST', `/leases/${lease}/park`, { json: { end } });
  expect(parked.body).toEqual({ state: 'parked', reason: 'proof_unverified' });
});

test('a run that died is recorded as it is', async () => {
  const { id } = await admit();
  const { lease } = await claimed(world);
  const done = await call(world, 'POST', `/leases/${lease}/complete`, { json: { end: crash } });
  expect(done.body).toEqual({ state: 'queued' });
  expect((await read(id))?.runsUsed).toBe(1);
});

test('a run that is handed back does not count', async () => {
  const { id } = await admit();
  const { lease } = await claimed(world);
  const back = await call(world, 'POST', `/leases/${lease}/park`, { json: { handBack: 'the box stops' } });
  expect(back.body).toEqual({ state: 'queued' });
  expect(await read(id)).toMatchObject({ runsUsed: 0, history: [{ outcome: 'handed_back' }] });
  expect((await claimed(world)).run).toBe(2);
});

test("a verdict of a person's does not come from a run", async () => {
  await admit();
  const { lease } = await claimed(world);
  const forged = met('c1', { by: { kind: 'person', person: { login: 'maria', id: 1 } } });
  const answer = await call(world, 'POST', `/leases/${lease}/complete`, { json: { end: result([forged]) } });
  expect(refusedWith(answer)).toEqual([422, 'invalid_result']);
});

test('where nothing waits a claim is answered 204, at once or when its time is over', async () => {
  const json = { namespace: agentLane };
  expect((await call(world, 'POST', '/claim', { json })).status).toBe(204);
  expect((await call(world, 'POST', '/claim', { json: { ...json, waitMs: 30 } })).status).toBe(204);
});

test('a claim that waits gets the task that comes', async () => {
  const waiting = call(world, 'POST', '/claim', { json: { namespace: agentLane, waitMs: 25_000 } });
  const { id } = await admit();
  expect((await waiting).body).toMatchObject({ task: id });
});

test('a claim that nobody waits for any more leaves the task alone', async () => {
  const leaving = new AbortController();
  const gone = fetch(`${world.url}/fleet/v1/claim`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.token}` },
    body: JSON.stringify({ namespace: agentLane, waitMs: 25_000 }),
    signal: leaving.signal,
  });
  leaving.abort();
  await expect(gone).rejects.toThrow();
  const { id } = await admit();
  const claim = await claimed(world);
  expect([claim.task, claim.run]).toEqual([id, 1]);
});

test('a run whose claimer left while GitHub was asked is given back, not counted', async () => {
  const { id } = await admit();
  const leaving = new AbortController();
  const host = openHost(engine);
  const slow: FleetWorld = await startFleet(engine, {
    host: {
      ...host,
      async mayBegin(lease) {
        leaving.abort();
        await until('the server sees it', async () => (await slow.connections()) === 0);
        return host.mayBegin(lease);
      },
    },
  });
  const gone = fetch(`${slow.url}/fleet/v1/claim`, {
    method: 'POST',
    headers: { authorization: `Bearer ${slow.token}` },
    body: JSON.stringify({ namespace: agentLane }),
    signal: leaving.signal,
  });
  await expect(gone).rejects.toThrow();
  const back = await until('given back', async () => {
    const task = await read(id);
    return task?.state === 'queued' && task.run === 1 && task;
  });
  expect(back).toMatchObject({ runsUsed: 0, history: [{ outcome: 'handed_back' }] });
  await slow.stop();
});

test('where GitHub cannot be asked the run is given back, not counted, and the box hears 503', async () => {
  const { id } = await admit();
  const host = { ...openHost(engine), mayBegin: () => Promise.reject(new Error('no network')) };
  const cut = await startFleet(engine, { host });
  const answer = await call(cut, 'POST', '/claim', { json: { namespace: agentLane } });
  expect(refusedWith(answer)).toEqual([503, 'github_unavailable']);
  expect(await read(id)).toMatchObject({ state: 'queued', runsUsed: 0, run: 1 });
  await cut.stop();
});

test('what is not allowed any more is answered 204', async () => {
  await admit();
  const host = {
    ...openHost(engine),
    mayBegin: async () => ({ allowed: false, why: 'label_removed' }) as const,
  };
  const strict = await startFleet(engine, { host });
  expect((await call(strict, 'POST', '/claim', { json: { namespace: agentLane } })).status).toBe(204);
  await strict.stop();
});

test('a claim that waits ends with the server', async () => {
  const short = await startFleet(engine);
  const waiting = fetch(`${short.url}/fleet/v1/claim`, {
    method: 'POST',
    headers: { authorization: `Bearer ${short.token}` },
    body: JSON.stringify({ namespace: agentLane, waitMs: 25_000 }),
  }).catch(() => null);
  await short.stop();
  expect((await waiting)?.status ?? 204).toBe(204);
});
