/**
 * YAML as both configuration files are written in, read with a place for every mistake and with bounds on everything.
 * The repository's file comes from people whom the operator may not know. The bounds were measured on yaml 2.9: its
 * composer is recursive, and 64,000 `{` ended the process; its check of unique keys is quadratic.
 */
import {
  Composer,
  type Document,
  isCollection,
  isMap,
  isNode,
  isScalar,
  Lexer,
  LineCounter,
  Parser,
} from 'yaml';
import type { z } from 'zod';
import type { Problem } from './problems.ts';

/** Limits of a configuration file. */
const maxBytes = 128 * 1024;
const maxTokens = 20_000;
const maxDepth = 64;
/** How often anchors may be repeated, counted as yaml does: by what an alias expands to. */
const maxAliases = 100;
const maxProblems = 20;

type Path = readonly PropertyKey[];

/** A file's value, with a way to find where a part of it was written. */
interface Source<T> {
  readonly ok: true;
  readonly value: T;
  /** The plain value as written, before defaults. */
  readonly written: unknown;
  /** The problem, at the place of that path, or of the nearest part that was written. */
  problem(path: Path, message: string): Problem;
}

/** Parses `text` and validates it by `schema`. Takes at most a few hundred milliseconds, whatever the text. */
export function readYaml<T>(
  schema: z.ZodType<T>,
  text: string,
): Source<T> | { ok: false; problems: Problem[] } {
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes) return refused(`The file has ${bytes} bytes; at most ${maxBytes} are read.`);
  const lines = new LineCounter();
  const parsed = compose(text, lines);
  if ('refusal' in parsed) return refused(parsed.refusal);
  const { document } = parsed;
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    return {
      ok: false,
      problems: faults.slice(0, maxProblems).map((one) => at(lines, one.pos[0], one.message)),
    };
  }
  const plain = toPlain(document);
  if ('refusal' in plain) return refused(plain.refusal);
  const problem = (path: Path, message: string) => at(lines, offsetOf(document, path), message);
  const result = schema.safeParse(plain.value);
  if (result.success) return { ok: true, value: result.data, written: plain.value, problem };
  const problems = result.error.issues
    .slice(0, maxProblems)
    .map((issue) => describe(issue, document, problem));
  return { ok: false, problems };
}

function refused(message: string): { ok: false; problems: Problem[] } {
  return { ok: false, problems: [{ line: 1, column: 1, message }] };
}

/** Parses token by token, and stops before the depth or the number of tokens could hurt the recursive composer. */
function compose(text: string, lines: LineCounter): { document: Document } | { refusal: string } {
  const parser = new Parser(lines.addNewLine);
  const composer = new Composer({ prettyErrors: false, uniqueKeys: true });
  const tokens = [];
  let count = 0;
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    count += 1;
    if (count > maxTokens) return { refusal: `The file has more than ${maxTokens} parts.` };
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > maxDepth)
      return { refusal: `The file is nested more than ${maxDepth} levels deep.` };
  }
  tokens.push(...parser.end());
  const documents = [...composer.compose(tokens, true, text.length)];
  const [document] = documents;
  if (documents.length > 1) return { refusal: 'The file holds more than one YAML document.' };
  return document === undefined ? { refusal: 'The file is empty.' } : { document };
}

function toPlain(document: Document): { value: unknown } | { refusal: string } {
  try {
    const value: unknown = document.toJS({ maxAliasCount: maxAliases });
    return value === null ? { refusal: 'The file is empty.' } : { value };
  } catch (error) {
    // yaml throws ReferenceError here only: for an alias without an anchor, and for too many of them.
    if (!(error instanceof ReferenceError)) throw error;
    return { refusal: `The file's anchors and aliases cannot be used: ${error.message}` };
  }
}

function at(lines: LineCounter, offset: number, message: string): Problem {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1), message };
}

type Issue = z.core.$ZodIssue;

/** Turns an issue of zod into words that name the field. */
function describe(issue: Issue, document: Document, problem: Source<unknown>['problem']): Problem {
  if (issue.code === 'unrecognized_keys') {
    const [key] = issue.keys;
    const path = key === undefined ? issue.path : [...issue.path, key];
    return problem(path, `${say(path)} is not a known field.`);
  }
  if (issue.code === 'invalid_key') {
    return problem(issue.path, `${say(issue.path)}: the name ${issue.issues[0]?.message ?? 'is not valid'}.`);
  }
  if (issue.path.length > 0 && document.getIn(issue.path, true) === undefined) {
    return problem(issue.path, `${say(issue.path)} is missing.`);
  }
  return problem(issue.path, `${say(issue.path)}: ${issue.message}.`);
}

/** The path as a person writes it. Text from the file is bounded. */
function say(path: Path): string {
  return path.length === 0 ? 'The file' : path.map((part) => String(part).slice(0, 64)).join('.');
}

/** Where a path begins in the text: the key of its last part, else the part itself, else the nearest one above. */
function offsetOf(document: Document, path: Path): number {
  const parent = path.length === 0 ? undefined : nodeAt(document, path.slice(0, -1));
  const last = path.at(-1);
  if (isMap(parent)) {
    const pair = parent.items.find(({ key }) => isScalar(key) && String(key.value) === String(last));
    if (pair !== undefined && isNode(pair.key) && pair.key.range) return pair.key.range[0];
  }
  const node = nodeAt(document, path);
  if (isNode(node) && node.range) return node.range[0];
  return path.length === 0 ? 0 : offsetOf(document, path.slice(0, -1));
}

function nodeAt(document: Document, path: Path): unknown {
  let node: unknown = document.contents;
  for (const part of path) {
    if (!isCollection(node)) return undefined;
    node = node.get(part, true);
  }
  return node;
}
