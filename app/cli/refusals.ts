/** `lanekeeper refusals`: who was refused what, where: counts of all, and the newest ones. */
import { Command } from 'commander';
import { intakeNamespace, makeCaller, type RefusalEvent } from '../../lanes/index.ts';
import { plainLine } from '../broker/note/text.ts';
import { refusing } from './run.ts';
import { withStore } from './store.ts';

const help = `
It asks the Redis of a running \`lanekeeper start\` (of the same LANES_DATA_DIR), or LANES_REDIS_URL. All refusals are
counted; of one worker that is refused again and again only some are listed.
Exit code: 0 printed, 1 Redis does not answer, 2 bad usage.`;

const newest = 50;

/** The command, for the program to add. */
export function refusalsCommand(): Command {
  return new Command('refusals')
    .description('list who was refused what')
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action((options: { json?: boolean }, command: Command) =>
      refusing(command, () => list(options.json ?? false)),
    );
}

async function list(json: boolean): Promise<void> {
  await withStore(async ({ engine }) => {
    const caller = makeCaller('cli', [intakeNamespace]);
    const { refusals } = engine([]);
    const [counts, events] = await Promise.all([refusals.counts(caller), refusals.read(caller, newest)]);
    const text = json ? JSON.stringify({ counts, newest: events }, null, 2) : toText(counts, events);
    process.stdout.write(`${text}\n`);
  });
}

function toText(counts: object, events: readonly RefusalEvent[]): string {
  const lines = Object.entries(counts).map(([code, times]) => `${code}: ${times}`);
  if (lines.length === 0) return 'Nothing was refused yet.';
  for (const { atMs, by, verb, namespace, code } of events) {
    const at = new Date(atMs).toISOString().slice(0, 19).replace('T', ' ');
    const [who, where] = [by || '(nobody)', namespace || '(none)'].map((text) => plainLine(text, 128));
    lines.push(`${at}  ${who}  ${verb} in ${where}: ${code}`);
  }
  return lines.join('\n');
}
