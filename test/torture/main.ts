/** `npm run torture -- --kills N`: forced deaths by the thousand. `--json` prints the numbers, progress goes to stderr. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { briskPace } from './plan.ts';
import { holds, table } from './report.ts';
import { runTorture } from './torture.ts';

const usage = 'usage: torture [--kills N] [--seed N] [--jobs N] [--json]; each N a whole number from 1 on';
const given = read();
if (given === null) {
  process.stderr.write(`${usage}\n`);
  process.exitCode = 2;
} else {
  await torture(given);
}

function read() {
  const text = { type: 'string' } as const;
  const options = { kills: text, seed: text, jobs: text, json: { type: 'boolean' } } as const;
  try {
    const { values } = parseArgs({ options });
    const [kills, seed] = [Number(values.kills ?? 300), Number(values.seed ?? 1)];
    const jobs = Number(values.jobs ?? availableParallelism());
    const whole = [kills, seed, jobs].every((value) => Number.isSafeInteger(value) && value >= 1);
    return whole ? { kills, seed, jobs, json: values.json ?? false } : null;
  } catch {
    return null;
  }
}

async function torture({ kills, seed, jobs, json }: NonNullable<typeof given>): Promise<void> {
  const say = (line: string) => process.stderr.write(`${line}\n`);
  // A fortieth of the work is enough to see designs fail that lose a third of it.
  const baselineKills = Math.max(10, Math.round(kills / 40));
  const until = { kills, runs: 0 };
  const report = await runTorture({ until, pace: briskPace, baselineKills, seed, jobs, say });
  process.stdout.write(json ? `${JSON.stringify(report)}\n` : `${table(report)}\n`);
  process.exitCode = holds(report) ? 0 : 1;
}
