import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Engine } from '../../../lanes/index.ts';

import type { RefusalEvent } from '../../../lanes/records/ledger.ts';
import { isoWeek } from '../../../lanes/rules/iso-week.ts';
import { temporaryFolder } from '../../lanes/work/support.ts';
import { agentLane } from '../../support/engine.ts';
import { builtProgram } from '../../support/programs.ts';
import type { TestRedis } from '../../support/redis.ts';
import { callerNamed, lane, newTask } from '../../support/tasks.ts';
import { useEngine } from '../../support/use-engine.ts';
import { app, archiveOf, eventsIn } from './archive-support.ts';

let engine: Engine;
let raw: Redis;
let server: TestRedis;
useEngine((opened) => {
  ({ engine, raw, server } = opened);
});

const stream = `lanes:{${lane}}:ledger`;
const folder = join('tasks', lane);
let dataDir: string;

beforeEach(async () => {
  await raw.flushdb();
  dataDir = temporaryFolder();
});

/** Admits tasks in one turn: they share entries of the stream. */
async function admit(count: number): Promise<string[]> {
  const tasks = await Promise.all(Array.from({ length: count }, () => engine.admit(app, newTask())));
  return tasks.map(({ id }) => id);
}

const archived = (from = folder) => eventsIn(dataDir, from);
const tasksOf = (events = archived()) => events.map((event) => ('task' in event ? event.task : event.event));
const fileOf = (from = folder) => {
  const path = join(dataDir, 'ledger', from);
  return join(path, readdirSync(path).sort().at(-1) ?? '');
};

describe('the archive', () => {
  it('has every event once, in order, with its place in the stream', async () => {
    const archive = archiveOf({ dataDir, engine });
    const first = await admit(40);
    expect(await archive.runOnce()).toBe(40);
    const second = await admit(3);
    expect(await archive.runOnce()).toBe(3);
    expect(await archive.runOnce()).toBe(0);
    await archive.stop();
    expect(tasksOf()).toEqual([...first, ...second]);
    expect(archived()[0]).toMatchObject({
      ...{ v: 1, event: 'admitted', namespace: lane, by: 'app', part: 0 },
      id: expect.stringMatching(/^\d+-\d+$/),
    });
    expect(fileOf()).toMatch(new RegExp(`${isoWeek(Date.now())}\\.jsonl$`));
  });

  it('has the refusals too', async () => {
    const event: RefusalEvent = {
      ...{ event: 'refused', namespace: agentLane, verb: 'claim', by: 'warm', atMs: 7 },
      code: 'fleet_queue_off_limits',
    };
    await engine.refusals.record(app, { events: [event, event], counts: { fleet_queue_off_limits: 2 } });
    const archive = archiveOf({ dataDir, engine });
    expect([await archive.runOnce(), await archive.runOnce()]).toEqual([2, 0]);
    await archive.stop();
    expect(archived('refusals')).toMatchObject([event, event]);
  });

  it('goes on after a restart where its files end', async () => {
    const first = await admit(5);
    await archiveOf({ dataDir, engine }).stop();
    const second = await admit(5);
    await archiveOf({ dataDir, engine }).stop();
    expect(tasksOf()).toEqual([...first, ...second]);
  });

  it('that a crash cut at any byte of its last write neither doubles nor loses', {
    timeout: 60_000,
  }, async () => {
    const ids = [...(await admit(2)), ...(await admit(3))];
    await archiveOf({ dataDir, engine }).stop();
    const whole = readFileSync(fileOf());
    const ends = [...whole.keys()].filter((at) => whole[at] === 0x0a);
    const cuts = [...whole.keys()]
      .filter((at) => at % 53 === 0)
      .concat(
        ends,
        ends.map((end) => end + 1),
      );
    for (const length of cuts) {
      truncateSync(fileOf(), 0);
      writeFileSync(fileOf(), whole.subarray(0, length));
      await archiveOf({ dataDir, engine }).stop();
      expect(tasksOf(), `cut at ${length}`).toEqual(ids);
    }
  });

  it.each(['ledger.written', 'trimmed'])(
    'of an App that was killed at %s is gone on with, each event once',
    { timeout: 60_000 },
    async (at) => {
      const ids = await admit(6);
      const child = spawn(process.execPath, [builtProgram('archiver'), server.url, dataDir, at]);
      expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
      ids.push(...(await admit(2)));
      await archiveOf({ dataDir, engine }).stop();
      expect(tasksOf()).toEqual(ids);
    },
  );

  it('begins anew with another store, and keeps what it has', async () => {
    const first = await admit(3);
    const archive = archiveOf({ dataDir, engine });
    await archive.runOnce();
    await raw.flushdb();
    expect(await archive.runOnce()).toBe(0);
    const second = await admit(2);
    // The clock of the new one is behind: its ids are lower than those of the old one.
    const [[, fields] = ['', []]] = await raw.xrange(stream, '-', '+');
    await raw.del(stream);
    await raw.xadd(stream, '1000-1', ...fields);
    expect(await archive.runOnce()).toBe(2);
    await archive.stop();
    await archiveOf({ dataDir, engine }).stop();
    expect(tasksOf()).toEqual([...first, ...second]);
  });

  it('keeps an entry that is no event as it was, and goes on behind it', async () => {
    const [before] = await admit(1);
    await raw.xadd(stream, '*', '0', `nonsense ${'x'.repeat(5_000)}`);
    const [after] = await admit(1);
    await archiveOf({ dataDir, engine }).stop();
    expect(tasksOf()).toEqual([before, 'unreadable', after]);
    expect(archived()[1]).toMatchObject({ namespace: lane, text: expect.stringMatching(/^nonsense x+$/) });
  });

  it('drops from Redis only what it has, and keeps the newest', { timeout: 60_000 }, async () => {
    await admit(1);
    const line = (n: number): string => `admitted\nfill${String(n).padStart(8, '0')}\n0\n1\napp\n`;
    const fill = async (from: number, count: number): Promise<void> => {
      const pipeline = raw.pipeline();
      for (let n = from; n < from + count; n += 1) pipeline.xadd(stream, '*', '0', line(n));
      await pipeline.exec();
    };
    await fill(0, 12_000);
    const pages: number[] = [];
    const stopped = archiveOf({
      dataDir,
      engine: {
        ...engine,
        ledger: {
          ...engine.ledger,
          page: async (...args) => {
            if (pages.push(1) > 3) throw new Error('Redis went away');
            return engine.ledger.page(...args);
          },
        },
      },
      onError: () => {},
    });
    await stopped.runOnce();
    await stopped.stop();
    expect(await raw.xlen(stream)).toBe(12_001);
    const archive = archiveOf({ dataDir, engine });
    await archive.runOnce();
    expect(await raw.xlen(stream)).toBe(10_000);
    await archive.stop();
    expect(archived()).toHaveLength(12_001);
    expect(new Set(tasksOf()).size).toBe(12_001);
  });

  it('drops nothing of another store, and nothing behind its end', async () => {
    await admit(1);
    const upTo = { epoch: 'of another store', id: '99999999999999-0', part: 0 };
    for (let n = 0; n < 10_001; n += 1000) {
      const pipeline = raw.pipeline();
      for (let i = 0; i < 1_001; i += 1) pipeline.xadd(stream, '*', '0', 'x');
      await pipeline.exec();
    }
    expect(await engine.ledger.trim(app, lane, upTo)).toBe(0);
    const { epoch, events } = await engine.ledger.page(app, lane, null, 2);
    const [, second] = events;
    if (second === undefined) throw new Error('two entries were expected');
    // Of the 1,012 beyond the newest 10,000 only these two are archived.
    expect(await engine.ledger.trim(app, lane, second)).toBe(2);
    expect(await engine.ledger.trim(app, lane, { ...upTo, epoch: epoch ?? '' })).toBe(1_000);
  });

  it('that cannot write says so, loses nothing, and goes on when it can', async () => {
    const ids = await admit(2);
    const errors: unknown[] = [];
    let full = true;
    const point = (name: string): void => {
      if (full && name === 'ledger.written') throw Object.assign(new Error('no room'), { code: 'ENOSPC' });
    };
    const archive = archiveOf({ dataDir, engine, point, onError: (error) => errors.push(error) });
    expect(await archive.runOnce()).toBe(0);
    expect(errors).toMatchObject([{ code: 'disk' }]);
    // What could not be made durable is not left for a later look to take for archived.
    expect(readFileSync(fileOf(), 'utf8')).toBe('');
    full = false;
    expect(await archive.runOnce()).toBe(2);
    await archive.stop();
    expect(tasksOf()).toEqual(ids);
  });

  it('one stream that fails does not keep the others from being archived', async () => {
    await admit(1);
    const errors: unknown[] = [];
    mkdirSync(join(dataDir, 'ledger'), { recursive: true });
    writeFileSync(join(dataDir, 'ledger', 'refusals'), 'no folder');
    await archiveOf({ dataDir, engine, onError: (error) => errors.push(error) }).runOnce();
    expect(errors).toHaveLength(1);
    expect(archived()).toHaveLength(1);
  });
});

describe('several Apps', () => {
  it('on one data directory: one archives, the next when the first has stopped', async () => {
    const ids = await admit(4);
    const [one, two] = [archiveOf({ dataDir, engine }), archiveOf({ dataDir, engine })];
    expect([await one.runOnce(), await two.runOnce()]).toEqual([4, 0]);
    ids.push(...(await admit(1)));
    expect(await two.runOnce()).toBe(0);
    await one.stop();
    await two.runOnce();
    await two.stop();
    expect(tasksOf()).toEqual(ids);
  });

  it('on one Redis: only the one that delivers', async () => {
    await admit(1);
    const archive = archiveOf({ dataDir, engine, seated: () => false });
    expect(await archive.runOnce()).toBe(0);
    await archive.stop();
    expect(archived()).toEqual([]);
  });
});

it('who was not granted a namespace neither reads its ledger for an archive nor trims it', async () => {
  const stranger = callerNamed('stranger', [agentLane]);
  const upTo = { epoch: 'e', id: '1-0', part: 0 };
  const refused = { code: 'namespace_not_granted' };
  await expect(engine.ledger.page(stranger, lane, null, 2)).rejects.toMatchObject(refused);
  await expect(engine.ledger.trim(stranger, lane, upTo)).rejects.toMatchObject(refused);
  const offLimits = { code: 'fleet_queue_off_limits' };
  await expect(engine.refusals.page(stranger, null, 2)).rejects.toMatchObject(offLimits);
  await expect(engine.refusals.trim(stranger, upTo)).rejects.toMatchObject(offLimits);
});
