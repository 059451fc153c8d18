/** `npm run bench`: what Lanekeeper costs against the bare library, side by side in one run. `--json` prints the rows. */
import { parseArgs } from 'node:util';
import { benchCapture } from './capture.ts';
import { benchCopyCreate } from './copy-create.ts';
import { benchCriteria } from './criteria.ts';
import { benchFleetHttp } from './fleet-http.ts';
import { benchGithubCalls } from './github-calls.ts';
import type { BenchRow } from './row.ts';
import { benchSweepLive } from './sweep-live.ts';
import { benchTaskCycle } from './task-cycle.ts';
import { benchTaskCycleAcl } from './task-cycle-acl.ts';
import { benchWebhookAck } from './webhook-ack.ts';

const { values: options } = parseArgs({ options: { json: { type: 'boolean', default: false } } });
const say = (line: string) => process.stderr.write(`${line}\n`);

const rows: BenchRow[] = [];
const benches = [
  benchCriteria,
  benchTaskCycle,
  benchTaskCycleAcl,
  benchWebhookAck,
  benchFleetHttp,
  () => benchGithubCalls(say),
  benchSweepLive,
  benchCopyCreate,
  benchCapture,
];
for (const bench of benches) {
  rows.push(...(await bench()));
}
process.stdout.write(options.json ? `${JSON.stringify(rows, null, 2)}\n` : `${table(rows)}\n`);

function table(all: readonly BenchRow[]): string {
  const number = (value: number | null) => (value === null ? '–' : String(Math.round(value * 100) / 100));
  const head = ['name', 'ours', 'peer', 'unit', 'ratio', 'bound'];
  const lines = all.map(({ name, ours, peer, unit, ratio, bound }) => [
    name,
    number(ours),
    number(peer),
    unit,
    number(ratio),
    bound,
  ]);
  const widths = head.map((title, i) => Math.max(title.length, ...lines.map((line) => line[i]?.length ?? 0)));
  return [head, ...lines]
    .map((line) => line.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  '))
    .join('\n');
}
