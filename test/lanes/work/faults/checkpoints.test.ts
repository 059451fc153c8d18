import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { deferred } from '../../../../app/deferred.ts';
import { LaneError } from '../../../../lanes/errors.ts';
import type { Receipt } from '../../../../lanes/records/copies.ts';
import { outboxPaths, readReceipt } from '../../../../lanes/work/outbox.ts';
import type { RunOutcome } from '../../../../lanes/work/run-room.ts';
import { superviseRun } from '../../../../lanes/work/supervisor.ts';
import type { Workplace } from '../../../../lanes/work/workplace.ts';
import { until } from '../../../support/until.ts';
import { contained, makeLane, makeSetting } from '../run-support.ts';
import { eventsOf, makeStepper, statesOf, untilThere } from './support.ts';

/** An agent with a daemon in a session of its own, both of which write without a pause. */
const writers = `loop() { while :; do echo "$1 $((n = n + 1))" >"$1.txt"; sleep 0.01; done; }
setsid sh -c '(n=0; while :; do echo "daemon $((n = n + 1))" >daemon.txt; sleep 0.01; done) </dev/null >/dev/null 2>&1 &'
n=0; loop agent`;

interface Live {
  readonly place: Workplace;
  readonly id: string;
  readonly work: string;
  readonly step: () => Promise<number>;
  readonly reachBound: () => void;
  checkpoint(): Promise<Receipt | null>;
  patch(): string;
  /** Hears of each named point; a test sets it. */
  at: (point: string) => Promise<void> | void;
  stop(): Promise<RunOutcome>;
}

async function start(script: string, containment: string): Promise<Live> {
  const setting = await makeSetting();
  const stepper = makeStepper();
  const controller = new AbortController();
  const spawned = deferred<void>();
  const live = { at: (_point: string): Promise<void> | void => {} };
  const point = async (name: string) => {
    if (name === 'run.spawned') spawned.resolve();
    await live.at(name);
  };
  const place = { ...setting.place, point };
  const deps = { ...setting.deps, place, checkpoints: stepper.pace };
  const lane = makeLane({ agent: { kind: 'command', run: ['sh', '-c', script] }, writes: true, containment });
  const running = superviseRun(deps, setting.order({ lane, signal: controller.signal }));
  await spawned.promise;
  const [id = ''] = readdirSync(place.workDir);
  return Object.assign(live, {
    ...{ place, id, work: join(place.workDir, id), step: stepper.step, reachBound: stepper.reachBound },
    checkpoint: () => readReceipt(place, id, 'checkpoint'),
    patch: () => readFileSync(outboxPaths(place, id, 'checkpoint').patch, 'utf8'),
    stop: () => {
      controller.abort('shutdown');
      return running;
    },
  });
}

function kinds(place: Workplace): string[] {
  return eventsOf(place).flatMap((one) => (one.event === 'captured' ? [one.kind] : []));
}

const quiet = 'echo one >work.txt; exec sleep 600';
const levels = contained ? ['required', 'none'] : ['none'];

describe.each(levels)('a checkpoint, containment %s,', { timeout: 120_000 }, (containment) => {
  test('finds every process of the run stopped, and lets all go on once the files are read', async () => {
    const live = await start(writers, containment);
    await untilThere(live.work, 'agent.txt');
    await untilThere(live.work, 'daemon.txt');
    const seen: Record<string, string[]> = {};
    live.at = (name) => {
      seen[name] = statesOf(live.id);
    };
    await live.step();
    expect(seen['checkpoint.begin']?.length).toBeGreaterThan(1);
    expect(new Set([...(seen['checkpoint.begin'] ?? []), ...(seen['checkpoint.added'] ?? [])])).toEqual(
      new Set(['T']),
    );
    expect(seen['checkpoint.streamed']).not.toContain('T');
    expect(await live.checkpoint()).toMatchObject({ kind: 'checkpoint', files: 2, partial: false, run: 1 });
    // A file may be caught between its opening and its line.
    for (const name of ['agent', 'daemon']) expect(live.patch()).toContain(` b/${name}.txt`);
    expect(await live.stop()).toMatchObject({ kind: 'stopped' });
  });

  test('is taken where something changed, replaces the one before, and goes once the result is there', async () => {
    const live = await start(quiet, containment);
    await untilThere(live.work, 'work.txt');
    await live.step();
    const first = await live.checkpoint();
    await live.step();
    expect(await live.checkpoint()).toEqual(first);
    writeFileSync(join(live.work, 'work.txt'), 'two\n');
    await live.step();
    expect(live.patch()).toContain('+two');
    expect((await live.checkpoint())?.at).toBeGreaterThan(first?.at ?? Number.NaN);
    expect(kinds(live.place)).toEqual(['checkpoint', 'checkpoint']);
    expect(await live.stop()).toEqual({ kind: 'stopped', why: 'shutdown' });
    expect(kinds(live.place)).toEqual(['checkpoint', 'checkpoint', 'result']);
    expect(readdirSync(live.place.outboxDir).sort()).toEqual([
      `${live.id}.result.patch`,
      `${live.id}.result.receipt.json`,
      'tmp',
    ]);
    expect(readdirSync(join(live.place.outboxDir, 'tmp'))).toEqual([]);
  });
});

describe('a checkpoint that fails', { timeout: 120_000 }, () => {
  test('at its bound lets the run go on, keeps the one before, and is tried again more rarely', async () => {
    const live = await start(quiet, 'none');
    await untilThere(live.work, 'work.txt');
    expect(await live.step()).toBe(1_000);
    writeFileSync(join(live.work, 'work.txt'), 'two\n');
    const seen: string[][] = [];
    live.at = async (name) => {
      if (name !== 'checkpoint.begin') return;
      seen.push(statesOf(live.id));
      live.reachBound();
      await until('it goes on', async () => !statesOf(live.id).includes('T'));
      seen.push(statesOf(live.id));
    };
    expect(await live.step()).toBe(2_000);
    expect(seen).toEqual([['T'], ['S']]);
    expect(live.patch()).toContain('+one');
    expect(eventsOf(live.place).at(-1)).toMatchObject({ event: 'capture_failed' });
    live.at = () => {};
    expect(await live.step()).toBe(1_000);
    expect(live.patch()).toContain('+two');
    await live.stop();
  });

  test('at any of its points leaves a whole checkpoint and a run that goes on', async () => {
    const live = await start(quiet, 'none');
    await untilThere(live.work, 'work.txt');
    await live.step();
    let last = 'one';
    for (const at of ['begin', 'added', 'streamed', 'synced', 'renamed', 'receipt']) {
      writeFileSync(join(live.work, 'work.txt'), `${at}\n`);
      live.at = (name) => {
        if (name === `checkpoint.${at}`) throw new LaneError('disk', 'a test');
      };
      await live.step();
      expect(statesOf(live.id)).not.toContain('T');
      const told = { event: 'capture_failed', why: expect.stringContaining('a test') };
      expect(eventsOf(live.place).at(-1), at).toMatchObject(told);
      if (at === 'renamed' || at === 'receipt') last = at;
      expect(live.patch()).toContain(`+${last}\n`);
      const sha256 = createHash('sha256').update(live.patch()).digest('hex');
      expect(await live.checkpoint()).toMatchObject({ sha256 });
    }
    live.at = () => {};
    expect(await live.stop()).toEqual({ kind: 'stopped', why: 'shutdown' });
  });

  test('because its run ends leaves no word in the ledger', async () => {
    const live = await start(quiet, 'none');
    await untilThere(live.work, 'work.txt');
    let stopped: Promise<RunOutcome> | undefined;
    live.at = (name) => {
      if (name === 'checkpoint.begin') stopped = live.stop();
    };
    void live.step();
    await until('it is stopped', async () => stopped !== undefined);
    expect(await stopped).toEqual({ kind: 'stopped', why: 'shutdown' });
    expect(kinds(live.place)).toEqual(['result']);
    expect(eventsOf(live.place).map(({ event }) => event)).not.toContain('capture_failed');
  });
});
