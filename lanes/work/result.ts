/**
 * Reads an agent's result file. Whatever lies there was put there by a program that is not trusted: it is opened
 * without following a link and without waiting for a writer, it must be an ordinary file of at most 1 MB, and no error
 * quotes a word of it.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { z } from 'zod';
import { LaneError } from '../errors.ts';
import { type AgentResult, agentResultSchema } from '../records/result.ts';
import { mapStrings } from '../rules/text.ts';

/** The largest result file that is read. */
export const maxResultBytes = 1024 * 1024;
const namedProblems = 5;

export type ResultReading =
  | { readonly kind: 'valid'; readonly result: AgentResult }
  | { readonly kind: 'invalid'; readonly why: string };

/**
 * Reads and validates the result file. The agent's processes must have ended.
 * @throws LaneError `disk` where the disk itself fails.
 */
export async function readResult(path: string): Promise<ResultReading> {
  const bytes = await readRegularFile(path);
  if (typeof bytes === 'string') return { kind: 'invalid', why: bytes };
  const value = parseJson(bytes);
  if (value === undefined) return { kind: 'invalid', why: 'it is not JSON in UTF-8' };
  const parsed = agentResultSchema.safeParse(value);
  if (!parsed.success) return { kind: 'invalid', why: describe(parsed.error) };
  return { kind: 'valid', result: mapStrings(parsed.data, wellFormed) };
}

/** The bytes, or why there are none to trust. */
async function readRegularFile(path: string): Promise<Buffer | string> {
  let file: FileHandle;
  try {
    const folder = dirname(path);
    if ((await realpath(folder)) !== folder) return 'its folder was replaced by a link';
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return cannotOpen(error);
  }
  try {
    const stat = await file.stat();
    if (!stat.isFile()) return 'it is not an ordinary file';
    if (stat.nlink > 1) return 'it is a hard link to another file';
    if (stat.size > maxResultBytes) return `it is larger than ${maxResultBytes} bytes`;
    if (stat.size === 0) return 'it is empty';
    const buffer = Buffer.alloc(stat.size);
    const { bytesRead } = await file.read(buffer, 0, stat.size, 0);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    throw new LaneError('disk', 'the result file could not be read', { cause: error });
  } finally {
    await file.close();
  }
}

function cannotOpen(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'the agent wrote none';
  if (code === 'ELOOP') return 'it is a symbolic link';
  if (code === 'EACCES' || code === 'EPERM') return 'it may not be read';
  if (code === 'ENXIO' || code === 'ENODEV') return 'it is not an ordinary file';
  throw new LaneError('disk', 'the result file could not be opened', { cause: error });
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

/**
 * What is wrong, by the places that the contract names. zod's own messages would quote unknown keys, which are the
 * agent's words.
 */
function describe(error: z.ZodError): string {
  const problems = error.issues.map((issue) => {
    const place = issue.path.length === 0 ? 'the whole' : issue.path.map(String).join('.');
    return `${place}: ${problemTexts[issue.code] ?? 'not what the contract says'}`;
  });
  const named = problems.slice(0, namedProblems).join('; ');
  return problems.length > namedProblems ? `${named}; and ${problems.length - namedProblems} more` : named;
}

const problemTexts: Partial<Record<z.ZodError['issues'][number]['code'], string>> = {
  invalid_type: 'missing, or of the wrong type',
  invalid_value: 'not one of the allowed words',
  invalid_union: 'of no known kind',
  invalid_format: 'not in the form that the contract names',
  unrecognized_keys: 'has a field that the contract does not know',
  too_big: 'too long',
  too_small: 'too short',
};

/** Lone surrogates and NUL, which JSON can carry and no later reader expects, become the replacement character. */
function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8').replaceAll('\0', '\u{fffd}');
}
