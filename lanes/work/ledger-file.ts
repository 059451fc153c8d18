/** Files of JSON lines that only grow: appended durably, and read so that what a dead writer left torn spoils nothing. */
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode, type Files, files as systemFiles } from './files.ts';
import type { Point } from './workplace.ts';

const NEWLINE = 0x0a;

/**
 * Adds lines to the end of a file, which is made with its folder if it is missing. Durable when it resolves. Several
 * processes may append at once.
 */
export async function appendLines(
  path: string,
  lines: readonly string[],
  { files = systemFiles, point }: { files?: Files; point?: Point } = {},
): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, 'a+', 0o600);
  try {
    const { size } = await file.stat();
    const text = lines.map((line) => `${line}\n`).join('');
    await file.appendFile((await endsTorn(file, size)) ? `\n${text}` : text);
    await point?.('ledger.written');
    await files.sync(file, path);
    if (size === 0) await files.syncFolder(dirname(path));
    await point?.('ledger.synced');
  } finally {
    await file.close();
  }
}

/** A writer that died in the middle of a line must not spoil the next one. */
async function endsTorn(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== NEWLINE;
}

export interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  /** Whether it has its end: the last one of a file may have been cut short. */
  readonly ended: boolean;
}

/**
 * The lines of a file, none where there is no file. Only a line feed ends one: readers of text also split at characters that JSON leaves as they
 * are. A line longer than `mostBytes` is given cut, which no JSON survives: a damaged file must not fill the memory.
 */
export async function* readLines(path: string, mostBytes = 1_000_000): AsyncGenerator<Line> {
  const file = await open(path, 'r').catch(noneIfMissing);
  if (file === null) return;
  let [number, rest] = [1, Buffer.alloc(0)];
  try {
    for await (const chunk of file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        const text = Buffer.concat([rest, chunk.subarray(from, at)]).toString('utf8');
        yield { number, text, ended: true };
        [number, rest, from] = [number + 1, Buffer.alloc(0), at + 1];
      }
      rest = Buffer.concat([rest, chunk.subarray(from)]).subarray(0, mostBytes);
    }
    if (rest.length > 0) yield { number, text: rest.toString('utf8'), ended: false };
  } finally {
    await file.close();
  }
}

function noneIfMissing(error: unknown): null {
  if (errorCode(error) === 'ENOENT') return null;
  throw error;
}

/** The value of a line of JSON, or undefined where it is none. */
export function parseLine(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
