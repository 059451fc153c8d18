/** `npm run bench`: what Lanekeeper costs against the bare library, side by side in one run. `--json` prints the rows. */
import { parseArgs } from 'node:util';
import { benchCriteria } from './criteria.ts';
import { benchGithubCalls } from './github-calls.ts';
import type { BenchRow } from './row.ts';
import { benchTaskCycle } from './task-cycle.ts';
import { benchWebhookAck } from './webhook-ack.ts';

const { values: options } = parseArgs({ options: { json: { type: 'boolean', default: false } } });
const say = (line: string) => process.stderr.write(`${line}\n`);

const rows: BenchRow[] = [];
for (const bench of [benchCriteria, benchTaskCycle, benchWebhookAck, () => benchGithubCalls(say)]) {
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
