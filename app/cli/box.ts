/** `lanekeeper box`: an external worker of one agent namespace, until it has been idle for its TTL or is told to go. */
import { Command, InvalidArgumentError, Option } from 'commander';
import pino from 'pino';
import { readBoxConfig } from '../config.ts';
import { refusing } from './run.ts';
import { hearSignals } from './signals.ts';

const help = `
LANES_APP_URL names the App and LANES_WORKER_TOKEN is who this is; LANES_DATA_DIR is where copies and patches lie. SIGTERM
or SIGINT stops the run, takes its work and hands the task back. Exit code: 0 gone as told, 1 shut out or something ended
it, 2 it could not begin.`;

interface BoxOptions {
  readonly as: string;
  readonly ttl: number;
  readonly once?: boolean;
  readonly mcp?: boolean;
}

/** The command, for the program to add. */
export function boxCommand(): Command {
  return new Command('box')
    .description('work elsewhere: claim tasks of one agent namespace over HTTP')
    .requiredOption('--as <agent:id>', 'the namespace to work in', parseAgent)
    .addOption(
      new Option('--ttl <time>', 'go after this long without work: 90s, 30m, 2h')
        .default(30 * 60_000, '30m')
        .argParser(parseTime),
    )
    .option('--once', 'do one task, then go')
    .addOption(new Option('--mcp', 'serve the verbs as MCP tools over stdio').conflicts(['once', 'ttl']))
    .addHelpText('after', help)
    .action(async (options: BoxOptions, command: Command) => {
      await refusing(command, () => box(options));
      process.exit();
    });
}

async function box({ as: namespace, ttl: ttlMs, once = false, mcp = false }: BoxOptions): Promise<void> {
  const { stop } = hearSignals();
  const config = readBoxConfig();
  const log = pino({ level: config.logLevel, name: 'box' }, pino.destination({ dest: 2, sync: true }));
  for (const warning of config.warnings) log.warn(warning);
  // Loaded when asked for: no other command needs them.
  if (mcp) {
    const { serveMcp } = await import('../mcp.ts');
    return await serveMcp(config, namespace, stop);
  }
  const { runBox } = await import('../box.ts');
  await runBox(config, { namespace, ttlMs, once }, log, stop);
}

function parseAgent(text: string): string {
  if (/^agent:[a-z0-9][a-z0-9._-]{0,63}$/.test(text)) return text;
  throw new InvalidArgumentError('It must look like agent:<id>, with an id like [a-z0-9][a-z0-9._-]{0,63}.');
}

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

function parseTime(text: string): number {
  const [, count, unit] = /^(\d{1,5})([smh])$/.exec(text) ?? [];
  const ms = Number(count) * (unitMs[unit ?? ''] ?? Number.NaN);
  if (ms > 0) return ms;
  throw new InvalidArgumentError('It must look like 90s, 30m or 2h.');
}
