import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SyncFile } from '../../../../lanes/work/files.ts';
import { finishLeftOver } from '../../../../lanes/work/left-over.ts';
import { findReceipts, patchFile } from '../../../../lanes/work/outbox.ts';
import type { RunOutcome } from '../../../../lanes/work/run-room.ts';
import { superviseRun } from '../../../../lanes/work/supervisor.ts';
import type { Workplace } from '../../../../lanes/work/workplace.ts';
import { makeSetting, type RunSetting } from '../run-support.ts';
import { makePlace } from '../support.ts';
import { addsLine, lockableDisk, mayMount, smallDisk } from './disk-support.ts';
import { untilThere } from './support.ts';

const disk = { kind: 'unable', reason: 'disk' };
const result = { kind: 'result', outcome: 'done' };

/** The points of a run at which its disk breaks, what becomes of the run, and whether its agent had worked by then. */
const points: [point: string, outcome: object, worked: boolean | 'perhaps'][] = [
  ['create.locked', disk, false],
  ['create.published', disk, false],
  ['create.pinned', disk, false],
  ['create.copied', disk, false],
  ['run.prespawn', disk, 'perhaps'],
  ['run.spawned', disk, true],
  ['result.begin', disk, true],
  ['result.added', disk, true],
  ['result.streamed', disk, true],
  ['result.synced', disk, true],
  ['result.renamed', disk, true],
  ['result.receipt', disk, true],
  ['rm.tombstoned', result, true],
  ['rm.renamed', result, true],
  ['rm.deleted', result, true],
];

interface Broken {
  readonly setting: RunSetting;
  breakDisk(): void;
  mend(): void;
}

let runs = 0;

/** One run, whose disk breaks at a point of it. */
async function runBreakingAt({ setting, breakDisk }: Broken, at: string): Promise<RunOutcome> {
  let isBroken = false;
  const point = async (name: string) => {
    if (name !== at || isBroken) return;
    isBroken = true;
    if (at === 'run.spawned') {
      const [copy = ''] = readdirSync(setting.place.ctlDir).sort(byAge(setting.place));
      await untilThere(setting.place.ctlDir, copy, 'io', 'result.json');
    }
    breakDisk();
  };
  const deps = { ...setting.deps, place: { ...setting.place, point } };
  runs += 1;
  return await superviseRun(deps, setting.order({ lane: addsLine(at), run: runs }));
}
function byAge({ ctlDir }: Workplace) {
  const at = (name: string) =>
    JSON.parse(readFileSync(join(ctlDir, name, 'record.json'), 'utf8')).at as number;
  return (a: string, b: string) => at(b) - at(a);
}

/** The lines of every agent, as the newest patch has them. */
async function savedLines({ place }: RunSetting): Promise<string[]> {
  const newest = (await findReceipts(place, 'task0000001')).at(-1);
  const patch = newest ? readFileSync(patchFile(place, newest.copy, newest.kind), 'utf8') : '';
  return [...patch.matchAll(/^\+([a-z]+\.[a-z]+)$/gm)].map(([, line]) => line ?? '');
}

function copiesOf({ place }: RunSetting): string[] {
  return [place.ctlDir, place.workDir, place.graveDir].flatMap((folder) => readdirSync(folder));
}

/** Breaks and mends the disk at one point after the other; each run must begin with what all before it had done. */
async function breakAtEach(broken: Broken, table: typeof points): Promise<void> {
  const { setting } = broken;
  const lines: string[] = [];
  for (const [at, outcome, worked] of table) {
    const end = await runBreakingAt(broken, at);
    expect({ at, ...end }, JSON.stringify(end)).toMatchObject({ at, ...outcome });
    broken.mend();
    await finishLeftOver(setting.place);
    expect(copiesOf(setting), `${at}: what is left over is finished`).toEqual([]);
    const saved = await savedLines(setting);
    if (worked === true || (worked === 'perhaps' && saved.at(-1) === at)) lines.push(at);
    expect(saved, at).toEqual(lines);
  }
}

test.runIf(mayMount)(
  'a full disk at any point of a run parks it, loses nothing, and the next run goes on from there',
  { timeout: 240_000 },
  async () => {
    const small = smallDisk();
    const place = await makePlace(undefined, { dataDir: join(small.folder, 'data') });
    const setting = await makeSetting({ place });
    await breakAtEach({ setting, breakDisk: small.fill, mend: small.empty }, points);
  },
);

test.runIf(mayMount)(
  'a disk that becomes read-only parks the run, keeps the copy, and work goes on when it is mended',
  { timeout: 120_000 },
  async () => {
    const lockable = lockableDisk();
    const place = await makePlace(undefined, { dataDir: join(lockable.folder, 'data') });
    const setting = await makeSetting({ place });
    const breakDisk = () => lockable.setWritable(false);
    const mend = () => lockable.setWritable(true);
    const broken = { setting, breakDisk, mend };
    expect(await runBreakingAt(broken, 'result.begin')).toMatchObject(disk);
    const [copy = ''] = readdirSync(place.workDir);
    expect(readFileSync(join(place.workDir, copy, 'work.txt'), 'utf8')).toBe('result.begin\n');
    // Nothing can be begun either, and nothing is harmed.
    expect(await runBreakingAt(broken, 'no.point')).toMatchObject(disk);
    expect(existsSync(join(place.workDir, copy, 'work.txt'))).toBe(true);
    mend();
    const end = await runBreakingAt(broken, 'no.point');
    expect(end, JSON.stringify(end)).toMatchObject(result);
    expect(await savedLines(setting)).toEqual(['result.begin', 'no.point']);
    expect(copiesOf(setting)).toEqual([]);
  },
);

test('EIO at any fsync of a run parks it, loses nothing, and the next run goes on from there', {
  timeout: 240_000,
}, async () => {
  let broken = false;
  const sync: SyncFile = async (file) => {
    if (broken) throw Object.assign(new Error('i/o error'), { code: 'EIO' });
    await file.sync();
  };
  const setting = await makeSetting({ place: await makePlace(undefined, { sync }) });
  const set = (value: boolean) => () => {
    broken = value;
  };
  await breakAtEach({ setting, breakDisk: set(true), mend: set(false) }, points);
});
