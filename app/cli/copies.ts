/** `lanekeeper copies`: what lies in the data directory of this machine, and the ways out of quarantine. */
import { resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import {
  type CopyListing,
  discardCopy,
  exportCopy,
  listCopies,
  releaseCopy,
  type Workplace,
} from '../../lanes/index.ts';
import { lookAt } from './copy-view.ts';
import { refusing } from './run.ts';
import { columns, size, span } from './show.ts';
import { openLocalWorkplace, whoTypes } from './workplace.ts';

const help = `
A copy is in quarantine where a sweep could not save all of its work: it stays as it is until a person says what becomes
of it. Look at it (show), take out what can be read (export), then let the next sweep try again (release), or give up
what is in no patch (remove). Each leaves a line in the ledger, with the name of the system's user.
Exit code: 0 done, 1 refused or not there, 2 bad usage.`;

/** What a command says: to programs, and to people. */
interface Answer {
  readonly data: unknown;
  readonly text: string;
}

/** The command, for the program to add. */
export function copiesCommand(): Command {
  const command = new Command('copies')
    .description('list the copies that lie here; decide about those in quarantine')
    .addHelpText('after', help);
  const sub = (usage: string, what: string, isDefault = false) =>
    command.command(usage, { isDefault }).description(what).option('--json', 'print JSON');
  const run = (json: boolean | undefined, work: (place: Workplace) => Promise<Answer>) =>
    refusing(command, async () => {
      const { data, text } = await work(await openLocalWorkplace());
      process.stdout.write(json ? `${JSON.stringify(data, null, 2)}\n` : `${text}\n`);
    });
  sub('list', 'list them; `copies` alone does it', true).action(({ json }: Json) => run(json, list));
  const of = (name: string, what: string) =>
    sub(name, what).argument('<id>', 'as `copies` lists it', parseId);
  of('show', 'print all that is on record of one, also of one that is gone').action(
    (id: string, { json }: Json) => run(json, (place) => lookAt(place, id)),
  );
  of('export', 'write the patch of one in quarantine, as far as it can be read')
    .requiredOption('--to <file>', 'a file that is not there yet')
    .action((id: string, { json, to }: Json & { readonly to: string }) =>
      run(json, (place) => exportTo(place, id, resolve(to))),
    );
  of('release', 'let sweeps have one in quarantine again').action((id: string, { json }: Json) =>
    run(json, (place) => release(place, id)),
  );
  of('remove', 'give one in quarantine up, with all that is in no patch').action(
    (id: string, { json }: Json) => run(json, (place) => remove(place, id)),
  );
  return command;
}

interface Json {
  readonly json?: boolean;
}

/** An id becomes a part of paths. */
function parseId(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be an id as `lanekeeper copies` lists it.');
}

async function list(place: Workplace): Promise<Answer> {
  const copies = await listCopies(place);
  return { data: copies.map(told), text: copies.length === 0 ? 'There are no copies.' : table(copies) };
}

/** A listing for programs: what the record says of whose it is stands beside what was seen. */
function told({ record, ...seen }: CopyListing) {
  const { task = null, run = null, namespace = null, owner = null } = record ?? {};
  return { ...seen, task, run, namespace, owner };
}

const aliveWords = { true: 'alive', false: 'dead', unknown: 'unknown' } as const;

function table(copies: readonly CopyListing[]): string {
  const rows = copies.map(({ id, record, alive, why, ageMs, bytes, state, quarantined }) => [
    id,
    record === null ? '?' : `${record.task} run ${record.run}`,
    record === null ? '?' : `${record.owner.instance} pid ${record.owner.pid}`,
    aliveWords[`${alive}`],
    ageMs === null ? '?' : span(ageMs),
    size(bytes),
    state,
    quarantined === null ? why : `in quarantine: ${quarantined.why}`,
  ]);
  return columns([['copy', 'task', 'owner', 'is', 'age', 'size', 'state', 'why'], ...rows]);
}

async function exportTo(place: Workplace, id: string, file: string): Promise<Answer> {
  const by = whoTypes();
  const { sha256, partial } = await exportCopy(place, id, by, file);
  const text = `The patch of ${id} is in ${file}${partial ? '; it does not hold everything' : ''}. The copy stays.`;
  return { data: { id, by, file, sha256, partial }, text };
}

async function release(place: Workplace, id: string): Promise<Answer> {
  const by = whoTypes();
  await releaseCopy(place, id, by);
  return { data: { id, by, released: true }, text: `${id} is released: the next sweep may have it.` };
}

async function remove(place: Workplace, id: string): Promise<Answer> {
  const by = whoTypes();
  await discardCopy(place, id, by);
  const text = `${id} is removed. Its tombstone stays: see \`lanekeeper copies show ${id}\`.`;
  return { data: { id, by, removed: true }, text };
}
