import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngine, type Engine, openRedis } from '../../../lanes/index.ts';
import { githubNamespace, intakeNamespace, parseNamespace } from '../../../lanes/namespaces.ts';
import type { RefusalEvent } from '../../../lanes/records/ledger.ts';
import type { Lease } from '../../../lanes/records/runs.ts';
import { agentLane, registry, testEngine } from '../../support/engine.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { callerNamed, crash, lane, newTask } from '../../support/tasks.ts';

let server: TestRedis;
let engine: Engine;
const heard: RefusalEvent[] = [];
const stranger = callerNamed('stranger', []);

beforeAll(async () => {
  server = await startTestRedis();
  engine = testEngine(server.url, { onRefusal: (refusal) => heard.push(refusal) });
});
afterAll(async () => {
  await engine.close();
  await server.stop();
});

const lease: Lease = {
  namespace: lane,
  task: 'task0000',
  run: 1,
  fence: 1,
  id: 'a-lease-of-nobody',
  worker: 'stranger',
  epoch: 'e',
  endsAtMs: 0,
};
const ref = { installation: 1, repositoryId: 1, repository: 'a/b', number: 1 };
const effect = { kind: 'reaction', key: 'k', issue: ref, content: 'eyes' } as const;
const cursor = { epoch: 'e', id: '1-1', part: 0 };
const delivery = { guid: 'g', event: 'issues', payload: '{}', receivedAtMs: 1 };

/** Every verb, in a namespace that is not the caller's. */
const verbs: Record<string, (e: Engine) => Promise<unknown>> = {
  admit: (e) => e.admit(stranger, newTask()),
  get: (e) => e.get(stranger, lane, 'task0000'),
  count: (e) => e.count(stranger, lane),
  list: (e) => e.list(stranger, lane),
  claim: (e) => e.claim(stranger, lane, 'task0000'),
  begin: (e) => e.begin(stranger, lease),
  renew: (e) => e.renew(stranger, lease),
  record: async (e) => e.record(stranger, lease, await engine.admit(callerNamed('app'), newTask()), crash),
  handBack: (e) => e.handBack(stranger, lease, 'w'),
  park: (e) => e.park(stranger, lane, 'task0000', { reason: 'held', detail: '' }),
  resume: (e) => e.resume(stranger, lane, 'task0000', {}),
  cancel: (e) => e.cancel(stranger, lane, 'task0000', { reason: 'r' }),
  amend: (e) => e.amend(stranger, lane, 'task0000', {}),
  settle: (e) => e.settle(stranger, lane, 'task0000', { to: 'complete' }),
  pending: (e) => e.pending(stranger, lane),
  claimNext: (e) => e.claimNext(stranger, lane),
  retry: (e) => e.retry(stranger, lane, 'task0000'),
  takeBack: (e) => e.takeBack(stranger, lane, 'task0000', 'w'),
  pause: (e) => e.pause(stranger, lane),
  resumeNamespace: (e) => e.resumeNamespace(stranger, lane),
  repair: (e) => e.repair(stranger, lane),
  serve: (e) =>
    e.serve(stranger, lane, { lane: 'triage', concurrency: 1, onWake: async () => {}, onTrouble: () => {} }),
  'effects.read': (e) => e.effects.read(stranger, lane, '0', { count: 1 }),
  'effects.ack': (e) => e.effects.ack(stranger, lane, '1-1'),
  'ledger.read': (e) => e.ledger.read(stranger, lane, '0', 1),
  'ledger.page': (e) => e.ledger.page(stranger, lane, null, 1),
  'ledger.trim': (e) => e.ledger.trim(stranger, lane, cursor),
};
const fleetVerbs: Record<string, (e: Engine) => Promise<unknown>> = {
  'loose.add': (e) => e.loose.add(stranger, effect),
  'loose.read': (e) => e.loose.read(stranger, '0', { count: 1 }),
  'loose.ack': (e) => e.loose.ack(stranger, '1-1'),
  'intents.get': (e) => e.intents.get(stranger, 'k'),
  'intents.put': (e) => e.intents.put(stranger, 'k', 1),
  'drainer.take': (e) => e.drainer.take(stranger, 'h', 1),
  'drainer.leave': (e) => e.drainer.leave(stranger, 'h'),
  'issues.get': (e) => e.issues.get(stranger, 1, 1),
  'issues.update': (e) => e.issues.update(stranger, ref, (record) => record),
  'issues.find': (e) => e.issues.find(stranger, 1),
  'issues.live': (e) => e.issues.live(stranger),
  'deliveries.record': (e) => e.deliveries.record(stranger, delivery),
  'deliveries.take': (e) => e.deliveries.take(stranger, { count: 1, blockMs: 1 }),
  'deliveries.done': (e) => e.deliveries.done(stranger, '1-1'),
  'deliveries.failed': (e) => e.deliveries.failed(stranger, '1-1', 'w'),
  'refusals.record': (e) => e.refusals.record(stranger, { events: [], counts: {} }),
  'refusals.read': (e) => e.refusals.read(stranger, 1),
  'refusals.page': (e) => e.refusals.page(stranger, null, 1),
  'refusals.trim': (e) => e.refusals.trim(stranger, cursor),
  'refusals.counts': (e) => e.refusals.counts(stranger),
  'deliveries.dead': (e) => e.deliveries.dead(stranger, 1),
};

describe("a namespace that is not the caller's", () => {
  it.each(Object.keys(verbs))('is refused by %s, which is heard once', async (name) => {
    const code = 'namespace_not_granted';
    heard.length = 0;
    await expect(verbs[name]?.(engine)).rejects.toMatchObject({ code });
    expect(heard).toMatchObject([{ event: 'refused', by: 'stranger', verb: name, namespace: lane, code }]);
  });

  it.each(Object.keys(fleetVerbs))('is off limits to %s when it is a fleet namespace', async (name) => {
    const code = 'fleet_queue_off_limits';
    heard.length = 0;
    await expect(fleetVerbs[name]?.(engine)).rejects.toMatchObject({ code });
    // What writes refusals down would hear itself for ever.
    const refusal = { by: 'stranger', verb: name, namespace: expect.stringMatching(/^broker:/), code };
    expect(heard).toMatchObject(name === 'refusals.record' ? [] : [refusal]);
  });

  it('covers every verb there is', () => {
    const groups = Object.entries(engine).flatMap(([name, verb]) =>
      typeof verb === 'function' ? [name] : Object.keys(verb).map((inner) => `${name}.${inner}`),
    );
    const known = [...Object.keys(verbs), ...Object.keys(fleetVerbs), 'close'];
    expect(groups.sort()).toEqual(known.sort());
  });

  it('is unknown where the registry does not have it', async () => {
    const missing = parseNamespace('lane:nowhere');
    const caller = callerNamed('w', [missing]);
    await expect(engine.get(caller, missing, 'task0000')).rejects.toMatchObject({
      code: 'unknown_namespace',
    });
  });
});

describe('an unscoped look', () => {
  it("leaves fleet namespaces out, even the caller's own", async () => {
    const both = callerNamed('app', [lane, agentLane, intakeNamespace, githubNamespace]);
    const before = await engine.count(both);
    await engine.admit(both, newTask({ namespace: agentLane }));
    expect(await engine.count(both)).toEqual(before);
    expect((await engine.list(both)).filter(({ namespace }) => namespace === agentLane)).toEqual([]);
    expect(await engine.count(both, agentLane)).toMatchObject({ queued: 1 });
  });
});

describe("a credential of Redis that is not the namespace's", () => {
  it('is refused by Redis itself, as store_refused, by plain commands and by scripts', async () => {
    const admin = new Redis(server.url);
    const rules = [
      'on',
      '>pw',
      'resetkeys',
      `~lanes:{${lane}}:*`,
      'resetchannels',
      '-@all',
      '+@read',
      '+@write',
    ];
    const more = [
      '-@dangerous',
      '+@scripting',
      '+@transaction',
      '+info',
      '+time',
      '+ping',
      '+client|setname',
    ];
    await admin.call('ACL', 'SETUSER', 'only-lane', ...rules, ...more);
    const connect = (): Redis => openRedis(server.url, { username: 'only-lane', password: 'pw' });
    const wrong = createEngine({ connect, registry, id: () => 'x'.repeat(20) });
    const app = callerNamed('app', [lane, agentLane]);
    const admission = newTask({ namespace: agentLane });
    await expect(wrong.admit(app, admission)).rejects.toMatchObject({ code: 'store_refused' });
    await expect(wrong.get(app, agentLane, admission.id)).rejects.toMatchObject({ code: 'store_refused' });
    expect(await wrong.admit(app, newTask())).toMatchObject({ state: 'queued' });
    await wrong.close();
    await admin.call('ACL', 'DELUSER', 'only-lane');
    admin.disconnect();
  });

  it('with a wrong password is store_refused', async () => {
    const connect = (): Redis => openRedis(server.url, { username: 'nobody', password: 'pw' });
    const wrong = createEngine({ connect, registry, id: () => 'x'.repeat(20) });
    await expect(wrong.get(callerNamed('app'), lane, 'task0000')).rejects.toMatchObject({
      code: 'store_refused',
    });
    await wrong.close();
  });
});
