import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseNamespace } from '../../../lanes/namespaces.ts';
import type { MachineEvent } from '../../../lanes/records/machine-events.ts';
import { isoWeek } from '../../../lanes/rules/iso-week.ts';
import { openMachineLedger } from '../../../lanes/work/machine-ledger.ts';
import { temporaryFolder } from './support.ts';

function killIntent(at: number): MachineEvent {
  const who = { machineId: 'm', instance: 'worker-a', copy: 'c1', task: 'task0000001' };
  const which = { namespace: parseNamespace('lane:triage'), run: 1, fence: 1 };
  return { v: 1, at, ...who, ...which, event: 'kill_intent', signal: 'SIGINT', why: 'timeout' };
}

it.each([
  ['2026-01-01', '2026-W01'],
  ['2025-12-28', '2025-W52'],
  ['2025-12-29', '2026-W01'],
  ['2027-01-03', '2026-W53'],
  ['2026-08-13', '2026-W33'],
  ['2024-12-30', '2025-W01'],
])('%s lies in week %s', (day, week) => {
  expect(isoWeek(Date.parse(`${day}T12:00:00Z`))).toBe(week);
});

it('an event is one line in the file of its week', async () => {
  const folder = join(temporaryFolder(), 'ledger');
  const ledger = openMachineLedger(folder);
  const event = killIntent(Date.parse('2026-08-13T00:00:00Z'));
  await Promise.all(Array.from({ length: 10 }, () => ledger.append(event)));
  expect(readdirSync(folder)).toEqual(['2026-W33.jsonl']);
  const lines = readFileSync(join(folder, '2026-W33.jsonl'), 'utf8').split('\n');
  expect(lines.slice(0, -1).map((line) => JSON.parse(line))).toEqual(Array.from({ length: 10 }, () => event));
});

it('a line that a dead writer left torn does not spoil the next one', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, '2026-W33.jsonl'), '{"v":1,"to');
  await openMachineLedger(folder).append(killIntent(Date.parse('2026-08-13T00:00:00Z')));
  const last = readFileSync(join(folder, '2026-W33.jsonl'), 'utf8').trim().split('\n').at(-1) ?? '';
  expect(JSON.parse(last).event).toBe('kill_intent');
});
