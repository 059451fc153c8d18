import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runBox } from '../../app/box.ts';
import { keepSwept } from '../../app/keep-swept.ts';
import { openWorkplace } from '../../lanes/work/workplace.ts';
import { makeRemote, temporaryFolder } from '../lanes/work/support.ts';
import { until as untilWithin } from '../support/until.ts';
import { breakCapture, type OwnerProcess, startOwner } from './owners.ts';

let stop: AbortController;
let owner: OwnerProcess | undefined;
beforeEach(() => {
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await owner?.kill();
});

/** A salvage is many small processes, and the machine may be busy. */
const until = (what: string, probe: () => Promise<boolean>) => untilWithin(what, probe, 120_000);

type Told = readonly [copy: string | undefined, message: string];

/** A log that keeps which copy each message is about. */
function logOf(told: Told[]) {
  const level = (about: object, message: string) => {
    told.push(['copy' in about ? String(about.copy) : undefined, message]);
  };
  return { info: level, warn: level, error: level } as never;
}

const tombstoneIn = (dataDir: string, id: string | undefined) =>
  JSON.parse(readFileSync(join(dataDir, 'tombstones', `${id}.json`), 'utf8'));

it('a worker that is told to go before it served does not wait for a sweep', async () => {
  const options = { dataDir: temporaryFolder(), instance: 'worker-a', now: Date.now, id: randomUUID };
  const place = await openWorkplace(options);
  const { ended } = await keepSwept({ place, log: logOf([]), stop: AbortSignal.abort() });
  await ended;
});

it('a worker sweeps at its start and again and again, and says once what became of each copy', {
  timeout: 240_000,
}, async () => {
  const [dataDir, boxDir] = [join(temporaryFolder(), 'var'), join(temporaryFolder(), 'var')];
  owner = await startOwner(makeRemote({ 'a.txt': 'a\n' }), 'box-42', [
    { dataDir, states: ['worked', 'worked'] },
    { dataDir: boxDir, states: ['worked'] },
  ]);
  const [[saved, broken] = [], [ofBox] = []] = owner.ids;
  breakCapture(dataDir, broken);
  let rounds = 0;
  const now = () => Date.now();
  const place = await openWorkplace({ dataDir, instance: 'worker-a', now, id: randomUUID });
  const told: Told[] = [];
  const watched = {
    ...place,
    get ctlDir() {
      rounds += 1;
      return place.ctlDir;
    },
  };
  const swept = await keepSwept({ place: watched, log: logOf(told), stop: stop.signal, everyMs: 5 });
  expect(told).toEqual([]);
  expect(rounds).toBeGreaterThan(0);

  await owner.kill();
  await until('both are told', async () => told.length === 2);
  const removed = "a dead owner's copy was removed; its work is in the outbox";
  const kept = 'a copy is in quarantine until a person decides: see `lanekeeper copies`';
  expect(told).toEqual(
    expect.arrayContaining([
      [saved, removed],
      [broken, kept],
    ]),
  );
  expect(tombstoneIn(dataDir, saved)).toMatchObject({
    reapers: [{ instance: 'worker-a', pid: process.pid }],
  });
  const sofar = rounds;
  await until('more sweeps', async () => rounds > sofar + 10);
  expect(told).toHaveLength(2);

  renameSync(place.ctlDir, `${place.ctlDir}-away`);
  writeFileSync(place.ctlDir, 'in the way');
  await until('a failed sweep is told', async () => told.some(([, words]) => words.includes('failed')));
  rmSync(place.ctlDir);
  renameSync(`${place.ctlDir}-away`, place.ctlDir);
  const ctl = join(place.ctlDir, String(broken));
  writeFileSync(join(ctl, 'cap.git', 'HEAD'), 'ref: refs/heads/main\n');
  rmSync(join(ctl, 'quarantine.json'));
  await until('it goes on', async () => told.some(([id, words]) => id === broken && words === removed));
  stop.abort();
  await swept.ended;
  const last = rounds;

  const log = pino({ level: 'silent' });
  const config = { appUrl: 'http://127.0.0.1:9', token: 'none', dataDir: boxDir, workerName: 'box-42' };
  const stay = { namespace: 'agent:42', ttlMs: 0, once: false };
  await runBox({ ...config, logLevel: 'error', warnings: [] }, stay, log, new AbortController().signal);
  expect(tombstoneIn(boxDir, ofBox)).toMatchObject({
    reason: 'dead_owner_salvaged',
    reapers: [{ instance: 'box-42', pid: process.pid }],
  });
  expect(rounds).toBe(last);
});
