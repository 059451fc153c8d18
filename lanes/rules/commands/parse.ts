/** From a line to a command, or to what is wrong with it. */
import { type Verb, verbs } from '../help.ts';
import { readEvidence } from './evidence.ts';
import { commandLines } from './lines.ts';
import { nearest } from './near.ts';
import type { Command, CommandProblem, ParsedCommand } from './types.ts';

/** More than this in one comment is a mistake or a flood. */
export const maxCommands = 20;
const maxReasonChars = 4_000;
const maxAnswerChars = 10_000;
const maxShownChars = 200;

/**
 * The commands of a comment, in order: lines that begin with `/lane`, outside code, quotes and HTML. Lines that are
 * meant as commands but are none come back with what is wrong, to be answered with help. Never throws.
 */
export function parseCommands(body: string): ParsedCommand[] {
  const found = commandLines(body);
  if (found.kind === 'unreadable') return [{ ok: false, line: '', problem: 'unreadable' }];
  const parsed = found.lines.slice(0, maxCommands).map(parseLine);
  if (found.lines.length > maxCommands) {
    const line = found.lines[maxCommands] ?? '';
    parsed.push({ ok: false, line: line.slice(0, maxShownChars), problem: 'too_many' });
  }
  return parsed;
}

type Outcome = { command: Command } | { problem: CommandProblem; verb?: Verb };

function parseLine(line: string): ParsedCommand {
  const outcome = parseWords(line.slice('/lane'.length).trim());
  const shown = line.length > maxShownChars ? `${line.slice(0, maxShownChars)} …` : line;
  return 'command' in outcome
    ? { ok: true, line: shown, ...outcome }
    : { ok: false, line: shown, ...outcome };
}

function parseWords(words: string): Outcome {
  const [given, rest] = firstWord(words);
  if (given === '') return { command: { verb: 'help' } };
  const verb = verbs.find((one) => one === given.toLowerCase());
  if (verb === undefined) {
    const [meant] = nearest(given, verbs);
    const near = verbs.find((one) => one === meant);
    return { problem: 'unknown_verb', ...(near !== undefined && { verb: near }) };
  }
  const outcome = parseRest(verb, rest);
  return 'command' in outcome ? outcome : { ...outcome, verb };
}

function parseRest(verb: Verb, rest: string): Outcome {
  if (verb === 'status' || verb === 'help' || verb === 'cancel') return { command: { verb } };
  // Who names one of several proposals must not find all of them accepted.
  if (verb === 'accept') return rest === '' ? { command: { verb } } : { problem: 'unexpected_words' };
  if (verb === 'park') return withReason(rest, (why) => ({ verb, why }));
  if (verb === 'resume') {
    if (rest.length > maxAnswerChars) return { problem: 'too_long' };
    return { command: rest === '' ? { verb } : { verb, answer: rest } };
  }
  const [word, after] = firstWord(rest);
  const id = bare(word);
  if (id === '') return { problem: 'missing_id' };
  if (verb === 'open') return after === '' ? { command: { verb, id } } : { problem: 'unexpected_words' };
  if (verb === 'met') return parseMet(id, after);
  if (verb === 'moved') return parseMoved(id, after);
  if (verb === 'superseded') return parseSuperseded(id, after);
  return withReason(after, (why) => ({ verb, id, why }));
}

function parseMet(id: string, words: string): Outcome {
  if (words === '') return { problem: 'missing_evidence' };
  const evidence = readEvidence(words);
  return evidence === undefined ? { problem: 'too_long' } : { command: { verb: 'met', id, evidence } };
}

function parseMoved(id: string, words: string): Outcome {
  const [word, why] = firstWord(words);
  const number = /^#([1-9]\d{0,9})$/.exec(bare(word))?.[1];
  if (number === undefined) return { problem: 'missing_issue' };
  if (why.length > maxReasonChars) return { problem: 'too_long' };
  return { command: { verb: 'moved', id, issue: Number(number), ...(why !== '' && { why }) } };
}

function parseSuperseded(id: string, words: string): Outcome {
  const [word, why] = firstWord(words);
  const by = bare(word);
  if (by === '') return { problem: 'missing_by' };
  if (why.length > maxReasonChars || by.length > maxShownChars) return { problem: 'too_long' };
  return { command: { verb: 'superseded', id, by, ...(why !== '' && { why }) } };
}

function withReason(words: string, command: (why: string) => Command): Outcome {
  if (words === '') return { problem: 'missing_reason' };
  return words.length > maxReasonChars ? { problem: 'too_long' } : { command: command(words) };
}

function firstWord(words: string): [string, string] {
  const end = words.search(/\s/);
  return end === -1 ? [words, ''] : [words.slice(0, end), words.slice(end).trim()];
}

/** An id as people copy it: out of a code span, a table cell or a list. */
function bare(word: string): string {
  return word.replace(/^[`"'(<[]{1,4}/, '').replace(/[`"')>\],.:;]{1,4}$/, '');
}
