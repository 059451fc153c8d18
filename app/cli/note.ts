/** `lanekeeper note`: read an agent note back from a file, and say whether its signature holds. */
import { createReadStream } from 'node:fs';
import { Command } from 'commander';
import type { Note } from '../../lanes/index.ts';
import { type NoteKey, type NoteReading, readNote, unreadableNoteTexts } from '../broker/note/index.ts';
import { plainLine } from '../broker/note/text.ts';

export interface NoteCommandDeps {
  /**
   * The keys that a note may be signed with, the current one first.
   * @throws LaneError `invalid_config` for a key that cannot be used.
   */
  readonly loadKeys: () => Promise<readonly NoteKey[]>;
}

const authorship =
  'Who wrote the comment cannot be seen from a file. On GitHub, see that its author is the App.';

const help = `
The key is LANES_NOTE_KEY, else it is derived from the App's private key (PRIVATE_KEY, PRIVATE_KEY_PATH or the stored
credentials). ${authorship}
Exit code: 0 the signature holds, 1 it does not or the text is no note, 2 bad usage, a missing file or no key.`;

/** A comment has at most 65,536 characters; more than this is not read. */
const maxFileBytes = 1_000_000;
const usage = { exitCode: 2, code: 'lanekeeper.usage' };

/** The command, for the program to add. */
export function noteCommand(deps: NoteCommandDeps): Command {
  return new Command('note')
    .description('read an agent note back and check its signature')
    .argument('<file>', 'the Markdown of one comment; - for standard input')
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action((file: string, options: { json?: boolean }, command: Command) =>
      run(deps, file, options.json ?? false, command),
    );
}

async function run(deps: NoteCommandDeps, file: string, json: boolean, command: Command): Promise<void> {
  const body = await load(file, command);
  const keys = await keysOf(deps, command);
  const reading = readNote(body, keys);
  if (!reading.ok) process.exitCode = 1;
  if (json) process.stdout.write(`${JSON.stringify(toJson(reading), null, 2)}\n`);
  else if (reading.ok) process.stdout.write(`${toText(reading.note)}\n`);
  if (!reading.ok) process.stderr.write(`${unreadableNoteTexts[reading.why]}\n`);
  process.stderr.write(`${authorship}\n`);
}

async function keysOf({ loadKeys }: NoteCommandDeps, command: Command): Promise<readonly NoteKey[]> {
  let keys: readonly NoteKey[];
  try {
    keys = await loadKeys();
  } catch (error) {
    return command.error(`error: ${messageOf(error)}`, usage);
  }
  if (keys.length > 0) return keys;
  return command.error(
    'error: there is no key to check the signature with; set LANES_NOTE_KEY, PRIVATE_KEY or PRIVATE_KEY_PATH',
    usage,
  );
}

async function load(file: string, command: Command): Promise<string> {
  const stream = file === '-' ? process.stdin : createReadStream(file, { end: maxFileBytes });
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      const data = Buffer.from(chunk);
      chunks.push(data);
      bytes += data.length;
      if (bytes > maxFileBytes) break;
    }
  } catch (error) {
    return command.error(`error: cannot read ${file}: ${messageOf(error)}`, usage);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** `signature` is `not_checked` where there was nothing to check it on. */
function toJson(reading: NoteReading): object {
  const facts = { authorship: 'not_checked' };
  if (reading.ok) return { ok: true, signature: 'holds', ...facts, note: reading.note };
  const signed = reading.why === 'invalid_content' || reading.why === 'other_issue';
  const signature = signed ? 'holds' : reading.why === 'bad_signature' ? 'fails' : 'not_checked';
  return { ok: false, signature, ...facts, why: reading.why, message: unreadableNoteTexts[reading.why] };
}

function toText(note: Note): string {
  const { issue, app } = note;
  const state = note.reason ?? note.stateReason;
  const lines = [
    'The signature of the hidden block holds; the visible text is not covered by it.',
    `State: ${note.state}${state === undefined ? '' : ` (${state})`}`,
    `Issue: ${issue.repository}#${issue.number} (repository ${issue.repositoryId}, installation ${issue.installation})`,
    `App: ${app.slug} (${app.id})`,
    `Task: ${note.task} in ${note.namespace}, lane ${note.lane}`,
    `Run: ${note.run}, fence ${note.fence}, note ${note.sequence}`,
    `At: ${new Date(note.atMs).toISOString()}${note.actor === undefined ? '' : `, by ${note.actor.login}`}`,
    ...(note.patch === undefined ? [] : [`Patch: sha256 ${note.patch.sha256} on ${note.patch.worker}`]),
    `Criteria: ${note.criteria.length}`,
    ...note.criteria.map((criterion) => criterionLine(note, criterion)),
  ];
  return lines.map((line) => plainIndented(line)).join('\n');
}

function criterionLine({ dispositions }: Note, { id, text }: Note['criteria'][number]): string {
  const verdict = dispositions.find(({ criterion }) => criterion === id);
  const by = verdict?.by.kind === 'person' ? verdict.by.person.login : 'agent';
  return `  ${id} ${verdict === undefined ? 'open' : `${verdict.kind} (${by})`} ${text ?? ''}`;
}

/** What a terminal would obey is taken out of the words; the indentation stays. */
function plainIndented(line: string): string {
  const indent = line.length - line.trimStart().length;
  return `${' '.repeat(indent)}${plainLine(line, 500)}`;
}
