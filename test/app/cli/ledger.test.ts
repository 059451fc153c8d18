import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LedgerCount, type LedgerReport, readLedger } from '../../../lanes/index.ts';
import { commandLine } from '../../demo/lanekeeper.ts';
import { machine, refused, task } from '../../lanes/rules/ledger-events.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'lanekeeper-ledger-'));

/** Lines as they are; of an object its JSON. */
function put(file: string, ...lines: (string | object)[]): void {
  const path = join(dataDir, 'ledger', file);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(
    path,
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  );
}

beforeAll(() => {
  const separators = machine('quarantined', 2, { why: 'a line\u2028that\u2029text readers split\r' });
  put(
    '2026-W33.jsonl',
    ...[machine('run_started', 1), '{"v":1,"at":12', machine('run_exited', 1), separators],
    ...[{ v: 2, event: 'of a newer version' }, machine('captured', 1), machine('removed', 1)],
    '{"v":1,"event":"remo',
  );
  put('2026-W34.jsonl', machine('removed', 9), '');
  put('tasks/lane:triage/2026-W33.jsonl', task('claimed', 1), task('died', 1), '');
  put('refusals/2026-W33.jsonl', refused('lease_lost'), '');
  put('tasks/lane:triage/notes.txt', 'no file of ours');
  put('archive.lock', '');
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

async function lanekeeper(...args: string[]) {
  const child = spawn(process.execPath, commandLine(['ledger', ...args]), {
    cwd: dataDir,
    env: { PATH: process.env.PATH, LANES_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

async function reportOf(week: string | null): Promise<LedgerReport> {
  const { weeks, records } = await readLedger(dataDir, week);
  const count = new LedgerCount();
  for await (const record of records) count.add(record);
  return count.report(weeks);
}

describe('reading the ledger', () => {
  it('counts every record of the week, and names each line that is none', async () => {
    const report = await reportOf('2026-W33');
    expect(report.weeks).toEqual(['2026-W33']);
    expect(report.records).toEqual({ tasks: 2, machine: 5, refusals: 1 });
    expect(report.damaged).toEqual({
      lines: 3,
      first: [
        { file: '2026-W33.jsonl', line: 2, why: 'damaged' },
        { file: '2026-W33.jsonl', line: 5, why: 'unknown' },
        { file: '2026-W33.jsonl', line: 8, why: 'torn' },
      ],
    });
    expect(report.exits).toMatchObject({ zero: 1, zeroFailures: 1 });
    expect(report.removals.total).toBe(1);
  });

  it('reads all weeks where none is asked for', async () => {
    const report = await reportOf(null);
    expect(report.weeks).toEqual(['2026-W33', '2026-W34']);
    expect(report.removals.total).toBe(2);
  });
});

it('the command prints the report as JSON and as words', { timeout: 120_000 }, async () => {
  const [json, words] = await Promise.all([lanekeeper('--week', '2026-W33', '--json'), lanekeeper()]);
  expect(json).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(json.stdout)).toEqual(await reportOf('2026-W33'));
  expect(words).toMatchObject({ code: 0, stderr: '' });
  expect(words.stdout).toContain('Ledger of 2026-W33, 2026-W34');
  expect(words.stdout).toContain('2026-W33.jsonl:8 torn');
  expect(words.stdout).toMatch(/What these records do not show\n {2}\w/);
});

it('a week without records ends with 1, and what is no week with 2', { timeout: 120_000 }, async () => {
  const [missing, wrong] = await Promise.all([
    lanekeeper('--week', '2020-W01', '--json'),
    lanekeeper('--week', '2026-33'),
  ]);
  expect(missing.code).toBe(1);
  expect(JSON.parse(missing.stdout)).toMatchObject({ weeks: [], records: { tasks: 0 } });
  expect(missing.stderr).toContain('there are no records of 2020-W01');
  expect(wrong).toMatchObject({ code: 2, stdout: '' });
});
