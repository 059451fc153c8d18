import type { Redis } from 'ioredis';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Engine } from '../../../lanes/index.ts';
import { githubNamespace, intakeNamespace } from '../../../lanes/namespaces.ts';
import type { Delivery } from '../../../lanes/records/issues.ts';
import { testEngine } from '../../support/engine.ts';
import type { TestRedis } from '../../support/redis.ts';
import { callerNamed, lane, newTask } from '../../support/tasks.ts';
import { useEngine } from '../../support/use-engine.ts';

const app = callerNamed('app', [lane, intakeNamespace, githubNamespace]);
let server: TestRedis;
let raw: Redis;
let engine: Engine;

useEngine(
  (opened) => {
    ({ server, raw, engine } = opened);
  },
  { redeliverAfterMs: 0 },
);
beforeEach(async () => {
  await raw.flushdb();
});

const delivery = (guid: string): Delivery => ({
  guid,
  event: 'issues',
  payload: `{"n":"${guid}"}`,
  receivedAtMs: 5,
});
const take = (count = 10) => engine.deliveries.take(app, { count, blockMs: 1 });
/** The first take makes the group. */
const ready = () => take();

describe('deliveries', () => {
  it('are recorded once by GUID, and remembered for eight days', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => engine.deliveries.record(app, delivery('g1'))));
    expect(answers.sort()).toEqual(['duplicate', 'duplicate', 'recorded']);
    await ready();
    expect(await take()).toMatchObject([{ delivery: delivery('g1') }]);
    const days = (await raw.pttl(`lanes:{${intakeNamespace}}:guid:g1`)) / 86_400_000;
    expect(days).toBeGreaterThan(7.9);
    expect(days).toBeLessThanOrEqual(8);
  });

  it('that were done are gone, and their GUID is still a duplicate', async () => {
    await engine.deliveries.record(app, delivery('g1'));
    await ready();
    const [taken] = await take();
    await engine.deliveries.done(app, taken?.id ?? '');
    expect(await take()).toEqual([]);
    expect(await engine.deliveries.record(app, delivery('g1'))).toBe('duplicate');
  });

  it('recorded before the first consumer came are handed out, in order', async () => {
    for (const guid of ['a', 'b', 'c']) await engine.deliveries.record(app, delivery(guid));
    await ready();
    expect((await take()).map(({ delivery: { guid } }) => guid)).toEqual(['a', 'b', 'c']);
  });

  it('that a dead consumer held are handed to another one', async () => {
    await engine.deliveries.record(app, delivery('g1'));
    await ready();
    const [first] = await take();
    const second = await engine.deliveries.take(callerNamed('app-2', [intakeNamespace]), {
      count: 5,
      blockMs: 1,
    });
    expect(second).toEqual([first]);
  });

  it('that fail five times are set aside whole, with the reason', async () => {
    await engine.deliveries.record(app, delivery('g1'));
    await ready();
    const answers: string[] = [];
    for (let i = 0; i < 5; i += 1) {
      const [taken] = await take();
      answers.push(await engine.deliveries.failed(app, taken?.id ?? '', `broken ${i}`));
    }
    expect(answers).toEqual(['again', 'again', 'again', 'again', 'set_aside']);
    expect(await take()).toEqual([]);
    expect(await engine.deliveries.dead(app, 10)).toMatchObject([
      { why: 'broken 4', delivery: delivery('g1') },
    ]);
  });

  it('that kill their consumer every time are set aside too', async () => {
    await engine.deliveries.record(app, delivery('g1'));
    await ready();
    for (let i = 0; i < 5; i += 1) expect(await take()).toHaveLength(1);
    expect(await take()).toEqual([]);
    expect(await engine.deliveries.dead(app, 10)).toMatchObject([{ delivery: { guid: 'g1' } }]);
  });

  it('go on after the store was wiped under a waiting consumer', async () => {
    await ready();
    const waiting = engine.deliveries.take(app, { count: 1, blockMs: 10_000 });
    await raw.flushdb();
    expect(await waiting).toEqual([]);
    await engine.deliveries.record(app, delivery('g2'));
    await ready();
    expect(await take()).toHaveLength(1);
  });

  it('are handed to a waiting consumer at once', async () => {
    await ready();
    const waiting = engine.deliveries.take(app, { count: 1, blockMs: 20_000 });
    await engine.deliveries.record(app, delivery('g1'));
    expect(await waiting).toHaveLength(1);
  });

  it('of several megabytes come back as they were', async () => {
    const big = { ...delivery('big'), payload: `{"x":"${'é'.repeat(4_000_000)}"}` };
    await engine.deliveries.record(app, big);
    await ready();
    expect((await take())[0]?.delivery).toEqual(big);
  });
});

const issue = { installation: 1, repositoryId: 7, repository: 'acme/app', number: 3 };

describe('issue records', () => {
  it('change by compare-and-set: of many at once none is lost', async () => {
    const second = testEngine(server.url);
    await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        (i % 2 ? engine : second).issues.update(app, issue, (record) => ({
          ...record,
          waiting: [...record.waiting, `lane-${i}`],
        })),
      ),
    );
    const record = await engine.issues.get(app, 7, 3);
    expect(record).toMatchObject({ version: 12 });
    expect(new Set(record?.waiting).size).toBe(12);
    await second.close();
  });

  it('are left alone where the function says null', async () => {
    expect(await engine.issues.update(app, issue, () => null)).toMatchObject({ version: 0 });
    expect(await engine.issues.get(app, 7, 3)).toBeNull();
  });

  it('are live while they have a pointer', async () => {
    const pointer = newTask({ issue });
    await engine.issues.update(app, issue, (record) => ({ ...record, pointer }));
    await engine.issues.update(app, { ...issue, number: 4 }, (record) => ({ ...record, minted: 1 }));
    expect(await engine.issues.live(app)).toMatchObject([{ pointer: { id: pointer.id } }]);
    const name = issue.repository.toUpperCase();
    expect(await engine.issues.find(app, 3, name)).toMatchObject([{ issue: { number: 3 } }]);
    expect(await engine.issues.find(app, 3)).toHaveLength(1);
    expect(await engine.issues.find(app, 3, 'some/other')).toEqual([]);
    expect(await engine.issues.find(app, 99)).toEqual([]);
    await engine.issues.update(app, issue, ({ pointer: _gone, ...rest }) => rest);
    expect(await engine.issues.live(app)).toEqual([]);
  });

  it('keep the newest 50 decisions', async () => {
    const decision = { atMs: 1, source: 's', event: 'e', verdict: 'ignore', reason: 'r' } as const;
    const decisions = Array.from({ length: 60 }, (_, i) => ({ ...decision, text: String(i) }));
    const record = await engine.issues.update(app, issue, (before) => ({ ...before, decisions }));
    expect(record.decisions).toHaveLength(50);
    expect(record.decisions.at(-1)?.text).toBe('59');
  });
});

describe('effects', () => {
  it('without a task are added once by key', async () => {
    const effect = { kind: 'reaction', key: 'eyes:1', issue, content: 'eyes' } as const;
    expect(await Promise.all([engine.loose.add(app, effect), engine.loose.add(app, effect)])).toContain(
      false,
    );
    const found = await engine.loose.read(app, '0', { count: 10 });
    expect(found).toMatchObject([{ effect }]);
    await engine.loose.ack(app, found[0]?.id ?? '');
    expect(await engine.loose.read(app, '0', { count: 10 })).toEqual([]);
    expect(await engine.loose.add(app, effect)).toBe(false);
  });

  it('of a task are read in order, after a place, and waited for', async () => {
    const parked = { reason: 'no_criteria', detail: '' } as const;
    const first = await engine.admit(app, newTask({ parked }));
    const [one] = await engine.effects.read(app, lane, '0', { count: 1 });
    expect(one).toMatchObject({ effect: { task: { id: first.id } } });
    const waiting = engine.effects.read(app, lane, one?.id ?? '', { count: 10, blockMs: 20_000 });
    const second = await engine.admit(app, newTask({ parked }));
    expect(await waiting).toMatchObject([{ effect: { task: { id: second.id } } }]);
  });

  it('that cannot be read are handed out as null, so that they can be dropped', async () => {
    await raw.xadd(`lanes:{${lane}}:effects`, '*', 'effect', '{"kind":"format_disk"}');
    await raw.xadd(`lanes:{${lane}}:effects`, '*', 'effect', 'not json');
    expect(await engine.effects.read(app, lane, '0', { count: 10 })).toMatchObject([
      { effect: null },
      { effect: null },
    ]);
  });

  it('under delivery are remembered by intents', async () => {
    expect(await engine.intents.get(app, 'k')).toBeNull();
    await engine.intents.put(app, 'k', { tried: 1 });
    expect(await engine.intents.get(app, 'k')).toEqual({ tried: 1 });
  });
});
