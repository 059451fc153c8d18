/** `lanekeeper ledger`: what happened to runs, copies, patches and refusals, counted from the records of a data directory. */
import { Command, InvalidArgumentError } from 'commander';
import { isWeek, LedgerCount, type LedgerReport, readLedger } from '../../lanes/index.ts';
import { plainLine } from '../broker/note/text.ts';
import { readLocalConfig } from '../config.ts';
import { refusing } from './run.ts';

const help = `
It reads the files under LANES_DATA_DIR/ledger and asks nobody: no Redis, no GitHub. Lines that are damaged are counted
and named, and spoil nothing.
Exit code: 0 printed, 1 there are no records of that week or they cannot be read, 2 bad usage.`;

interface Options {
  readonly week?: string;
  readonly json?: boolean;
}

/** The command, for the program to add. */
export function ledgerCommand(): Command {
  return new Command('ledger')
    .description('count what happened to runs, copies, patches and refusals')
    .option('--week <week>', 'one ISO week, such as 2026-W33; without it all that are there', parseWeek)
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action((options: Options, command: Command) => refusing(command, () => tell(options)));
}

function parseWeek(text: string): string {
  if (!isWeek(text)) throw new InvalidArgumentError('a week looks like 2026-W33.');
  return text;
}

async function tell({ week, json = false }: Options): Promise<void> {
  const { dataDir } = readLocalConfig();
  const { weeks, records } = await readLedger(dataDir, week ?? null);
  const count = new LedgerCount();
  for await (const record of records) count.add(record);
  if (week !== undefined && weeks.length === 0) {
    process.stderr.write(`ledger: there are no records of ${week} in ${dataDir}\n`);
    process.exitCode = 1;
  }
  const report = count.report(weeks);
  process.stdout.write(`${json ? JSON.stringify(report, null, 2) : toText(report)}\n`);
}

function toText(report: LedgerReport): string {
  const { records, runs, taskEvents, deaths, exits, killIntents, lostWork } = report;
  const { refusals, quarantines } = report;
  const bound = lostWork.upperBound95;
  const blocks = [
    [`Ledger of ${report.weeks.join(', ') || 'no week'}`, counts(records)],
    ['runs by outcome', counts(runs)],
    ['events of tasks', counts(taskEvents)],
    [`deaths: ${deaths.total}`, counts(deaths.byCause)],
    ['exits of agents', counts({ ...exits })],
    ['kills of ours, intended', counts({ ...killIntents })],
    ['patches', ...patchLines(report), `  failed captures: ${report.capturesFailed}`],
    [`removals: ${report.removals.total}`, ...removalLines(report)],
    ['quarantine', counts({ ...quarantines })],
    ['refusals, as the App has them', counts(refusals.app)],
    ["refusals in this machine's ledger", counts(refusals.machine)],
    [
      `lost work: ${lostWork.lost} of ${lostWork.diedWithWork} runs that died with unsaved work`,
      bound === null ? '  no bound can be said' : `  at most ${percent(bound)} of such runs, with 95 %`,
      `  nothing to save: ${lostWork.nothingToSave}, not yet captured: ${lostWork.notYetCaptured}`,
      `  given up by a person: ${lostWork.givenUp}`,
      ...lostWork.lostCopies.map((id) => `  lost: ${id}`),
    ],
    ['damaged lines', ...damagedLines(report)],
    ['What these records do not show', ...report.notShown.map((sentence) => `  ${sentence}`)],
  ];
  return blocks.map((lines) => lines.filter((line) => line !== '').join('\n')).join('\n\n');
}

/** Those that are not zero, in one line. */
function counts(numbers: Readonly<Record<string, number>>): string {
  const some = Object.entries(numbers).filter(([, number]) => number > 0);
  return some.length === 0 ? '  none' : `  ${some.map(([name, number]) => `${name}: ${number}`).join(', ')}`;
}

function patchLines({ patches }: LedgerReport): string[] {
  return Object.entries(patches).map(
    ([kind, { patches: number, bytes, partial, tornPossible }]) =>
      `  ${kind}: ${number} with ${bytes} bytes, ${partial} partial, ${tornPossible} possibly torn`,
  );
}

function removalLines({ removals }: LedgerReport): string[] {
  const reapers = removals.byReaper.map(
    ({ uuid, instance, removals: number }) =>
      `  by ${plainLine(instance, 100)} (${plainLine(uuid, 64)}): ${number}`,
  );
  const rest = `  taken over from a dead reaper: ${removals.takenOver}, refused: ${removals.refused}`;
  return [counts(removals.byReason), ...reapers, rest];
}

function damagedLines({ damaged, refusals }: LedgerReport): string[] {
  const first = damaged.first.map(({ file, line, why }) => `  ${plainLine(file, 200)}:${line} ${why}`);
  const more = damaged.lines > damaged.first.length ? [`  … ${damaged.lines} in all`] : [];
  const unreadable =
    refusals.unreadable > 0 ? [`  entries of streams that were no event: ${refusals.unreadable}`] : [];
  return first.length + unreadable.length === 0 ? ['  none'] : [...first, ...more, ...unreadable];
}

function percent(bound: number): string {
  return `${Number((bound * 100).toPrecision(3))} %`;
}
