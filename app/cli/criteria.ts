/** `lanekeeper criteria`: read acceptance criteria from files, and follow their ids through an edit. */
import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import {
  type CriteriaMatch,
  type CriteriaReading,
  matchCriteria,
  type ReadCriterion,
} from '../../lanes/index.ts';
import { closeBodyReader, readBody, type Unreadable } from '../github/body/index.ts';

type Options = { editOf?: string; json?: boolean };
type Edit = { ids: string[]; removed: string[]; stale: string[] };
type FileReading = { file: string; reading: CriteriaReading; edit?: Edit; unreadable?: Unreadable };

const WHY: Readonly<Record<Unreadable, string>> = {
  too_long: 'is longer than 65,536 characters, which GitHub does not allow',
  too_deep: 'nests quotes, lists or marks so deeply that it cannot be parsed; flatten it',
  deadline: 'took too long to parse; shorten it',
  memory: 'took too much memory to parse; shorten it',
  crash: 'could not be parsed: the parser ended unexpectedly',
};

const HELP = `
One file prints one object, several print an array. With --edit-of, the criteria of the earlier body are called k1, k2, … in
their order, new ones NEW-1, NEW-2, …; "ids" has one per criterion, "removed" those whose line vanished, "stale" those that
were reworded. A body that cannot be read has "unreadable" with the reason.
Exit code: 0 read, 1 a body cannot be read, 2 bad usage or a missing file.`;

/** The command, for the program to add. */
export function criteriaCommand(): Command {
  return new Command('criteria')
    .description('read the acceptance criteria of issue bodies')
    .argument('<file...>', 'Markdown files, each one issue body')
    .option('--edit-of <file>', 'the body before the edit; takes exactly one file')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(run);
}

async function run(files: string[], options: Options, command: Command): Promise<void> {
  if (options.editOf !== undefined && files.length !== 1) {
    command.error('error: --edit-of compares exactly one file', { exitCode: 2, code: 'lanekeeper.usage' });
  }
  const earlier = options.editOf === undefined ? null : await load(options.editOf, command);
  const bodies = [];
  for (const file of files) bodies.push({ file, body: await load(file, command) });
  try {
    const before = earlier === null ? null : await readFileBody(options.editOf ?? '', earlier);
    const readings = [];
    for (const { file, body } of bodies)
      readings.push(
        await readFileBody(file, body, before?.unreadable ? undefined : before?.reading.criteria),
      );
    if ([before, ...readings].some((reading) => reading?.unreadable)) process.exitCode = 1;
    print(readings, files.length > 1, options.json ?? false);
  } finally {
    await closeBodyReader();
  }
}

/** Bytes as UTF-8; what is no UTF-8 becomes U+FFFD. Line ends and a byte order mark stay as they are. */
async function load(file: string, command: Command): Promise<string> {
  try {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await readFile(file));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return command.error(`error: cannot read ${file}: ${reason}`, { exitCode: 2, code: 'lanekeeper.usage' });
  }
}

async function readFileBody(
  file: string,
  body: string,
  before?: readonly ReadCriterion[],
): Promise<FileReading> {
  const outcome = await readBody(body);
  if (outcome.kind === 'unreadable') {
    process.stderr.write(`${file} ${WHY[outcome.why]}\n`);
    return { file, reading: { criteria: [], section: null }, unreadable: outcome.why };
  }
  const { reading } = outcome;
  return { file, reading, ...(before && { edit: follow(before, reading.criteria) }) };
}

function follow(before: readonly ReadCriterion[], after: readonly ReadCriterion[]): Edit {
  const known = matchCriteria([], before, counter('k')).criteria;
  const match: CriteriaMatch = matchCriteria(known, after, counter('NEW-'));
  const ids = match.criteria.filter((criterion) => !criterion.removed).map((criterion) => criterion.id);
  return { ids, removed: match.removed, stale: match.stale };
}

function counter(prefix: string): () => string {
  let last = 0;
  return () => {
    last += 1;
    return `${prefix}${last}`;
  };
}

function print(readings: readonly FileReading[], several: boolean, json: boolean): void {
  if (json) {
    const values = readings.map(toJson);
    process.stdout.write(`${JSON.stringify(several ? values : values[0], null, 2)}\n`);
  } else process.stdout.write(readings.map((reading) => toText(reading, several)).join('\n'));
}

function toJson({ reading, edit, unreadable }: FileReading) {
  const { criteria, section, fallbackTasklist, ...rest } = reading;
  return {
    criteria,
    section,
    ...(fallbackTasklist && { fallback_tasklist: fallbackTasklist }),
    ...rest,
    ...edit,
    ...(unreadable && { unreadable }),
  };
}

function toText({ file, reading, edit, unreadable }: FileReading, several: boolean): string {
  const lines = several ? [`${file}:`] : [];
  if (unreadable) return `${[...lines, `Unreadable: ${unreadable}`].join('\n')}\n`;
  lines.push(reading.section === null ? 'No acceptance section.' : `Section: ${reading.section}`);
  reading.criteria.forEach((criterion, index) => {
    const box = criterion.checkbox ? (criterion.checked ? '[x]' : '[ ]') : ' - ';
    const id = edit?.ids[index];
    lines.push(`${'  '.repeat(criterion.depth + 1)}${box} ${id ? `${id}  ` : ''}${criterion.text}`);
  });
  if (reading.criteria.length === 0) lines.push('  no criteria');
  const notes: readonly (readonly [string, readonly string[] | undefined])[] = [
    ['Unfilled template text', reading.placeholders],
    ['Task items, to propose', reading.fallbackTasklist],
    ['Kept elsewhere', reading.external],
    ['For all of them', reading.context],
    ...(reading.secondary ?? []).map(({ section, items }) => [`Beside it, ${section}`, items] as const),
    ['Removed', edit?.removed],
    ['Reworded', edit?.stale],
  ];
  for (const [name, texts] of notes)
    if (texts && texts.length > 0) lines.push(`${name}: ${texts.join(' | ')}`);
  return `${lines.join('\n')}\n`;
}
