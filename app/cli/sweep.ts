/** `lanekeeper sweep`: what a worker does at its start and every minute, now, by hand; or only what it would do. */
import { Command } from 'commander';
import {
  planSweep,
  type SweepFinding,
  type SweepOutcome,
  type SweepStep,
  sweepCopies,
} from '../../lanes/index.ts';
import { refusing } from './run.ts';
import { columns } from './show.ts';
import { openLocalWorkplace } from './workplace.ts';

const help = `
It looks at every copy in LANES_DATA_DIR. A copy whose owner lives is never touched, whatever the owner is called; of a
dead one the work is saved into the outbox, then the copy is removed. What cannot be saved is kept, in quarantine.
Exit code: 0 nothing is left to do, 1 a copy needs a person (see \`lanekeeper copies\`) or could not be swept, 2 bad usage.`;

interface Options {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** The command, for the program to add. */
export function sweepCommand(): Command {
  return new Command('sweep')
    .description('save the work of dead owners, and remove their copies')
    .option('--dry-run', 'print what would be done and why, and do nothing')
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action((options: Options, command: Command) => refusing(command, () => sweep(options)));
}

async function sweep({ dryRun = false, json = false }: Options): Promise<void> {
  const place = await openLocalWorkplace();
  const found: readonly Swept[] = dryRun ? await planSweep({ place }) : await sweepCopies({ place });
  const counts = dryRun ? {} : countsOf(found);
  const answer = { dryRun, reaper: place.owner, ...counts, copies: found.map(shown) };
  process.stdout.write(json ? `${JSON.stringify(answer, null, 2)}\n` : toText(found, dryRun));
  if (found.some(needsPerson)) process.exitCode = 1;
}

type Swept = SweepFinding & Partial<Omit<SweepOutcome, keyof SweepFinding>>;

const endings = ['live', 'reported', 'quarantined', 'removed', 'cleared', 'failed'] as const;
const forPeople: ReadonlySet<SweepStep> = new Set(['report', 'conflict', 'quarantine', 'keep_quarantined']);
const noTrouble: ReadonlySet<string | undefined> = new Set(['live', 'removed', 'cleared']);

function countsOf(found: readonly Swept[]): Record<(typeof endings)[number], number> {
  const times = (ending: string) => found.filter(({ outcome }) => outcome === ending).length;
  return Object.fromEntries(endings.map((ending) => [ending, times(ending)])) as ReturnType<typeof countsOf>;
}

function needsPerson({ step, outcome }: Swept): boolean {
  if (outcome !== undefined) return !noTrouble.has(outcome);
  return forPeople.has(step);
}

function shown({ record, ...finding }: Swept) {
  const { task = null, run = null, owner = null } = record ?? {};
  return { ...finding, task, run, owner };
}

function toText(found: readonly Swept[], dryRun: boolean): string {
  if (found.length === 0) return 'There are no copies.\n';
  const rows = found.map(({ id, record, step, outcome, why, error }) => [
    id,
    record === null ? '?' : `${record.task} run ${record.run}`,
    step,
    ...(dryRun ? [] : [outcome ?? '']),
    error === undefined ? why : `${why}: ${error}`,
  ]);
  const head = ['copy', 'task', 'step', ...(dryRun ? [] : ['outcome']), 'why'];
  const counts = Object.entries(countsOf(found)).filter(([, count]) => count > 0);
  const said = counts.map(([ending, count]) => `${count} ${ending}`).join(', ');
  return `${columns([head, ...rows])}\n${dryRun ? 'Nothing was changed.' : said}\n`;
}
