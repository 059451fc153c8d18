/**
 * Runs git as ourselves, so that nothing in a repository can make it run somebody else's code: an explicit
 * environment, no configuration but ours, no hooks, no fsmonitor, no filters.
 */
import { LaneError } from '../errors.ts';
import { saysDisk } from './files.ts';
import { runProgram } from './program.ts';
import { TOOL_PATH } from './tools.ts';

const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
const MAX_STDERR_CHARS = 2_000;

const HARDENED_ENV = {
  PATH: TOOL_PATH,
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_TERMINAL_PROMPT: '0',
  // Git takes and frees some 300 KB for each object it writes; the system's allocator gives them back each time, and to
  // get them again costs several times the work. Measured: `git add` of 5,000 changed files in a fifth of the time.
  MALLOC_TRIM_THRESHOLD_: '268435456',
  MALLOC_TOP_PAD_: '4194304',
};

const HARDENED_CONFIG = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.attributesFile=/dev/null',
  'core.excludesFile=/dev/null',
  'core.untrackedCache=false',
  'core.fileMode=true',
  'core.autocrlf=false',
  // Names that only other systems take for `.git` are ordinary work here; git leaves such files out otherwise.
  'core.protectHFS=false',
  'core.protectNTFS=false',
  'core.bigFileThreshold=50m',
  'gc.auto=0',
  'maintenance.auto=false',
  'advice.addEmbeddedRepo=false',
].flatMap((setting) => ['-c', setting]);

export interface GitRun {
  args: readonly string[];
  cwd: string;
  /** Added to the hardened environment. Secrets belong here, never into `args`. */
  env?: Readonly<Record<string, string>>;
  input?: Uint8Array | string;
  /** Standard output goes straight into this descriptor instead of into memory. */
  stdoutFd?: number;
  /** Exit codes that are answers, not failures. Default: only 0. */
  okCodes?: readonly number[];
  /** Texts that no error may quote. */
  secrets?: readonly string[];
  signal?: AbortSignal;
}

export interface GitOutput {
  code: number;
  stdout: Buffer;
  stderr: string;
}

/** Throws LaneError `git_failed`, `disk` where git says so, or the signal's reason. */
export async function git(run: GitRun): Promise<GitOutput> {
  const { args, ...more } = run;
  return await runGit('git', [...HARDENED_CONFIG, ...args], { ...more, name: commandOf(args) });
}

/**
 * Several git commands one after the other, by one start of a process, which costs us more than most commands do. The
 * first that fails ends it; of the first alone `okCodes` are no failure, and then the answer's code. What they print comes
 * together. Throws as `git` does.
 */
export async function gitInTurn(
  commands: readonly (readonly string[])[],
  run: Omit<GitRun, 'args'>,
): Promise<GitOutput> {
  const lines = commands.map((args) => ['git', ...HARDENED_CONFIG, ...args].map(quoted).join(' '));
  const [first = '', ...others] = lines;
  const go = `case $? in ${(run.okCodes ?? [0]).join('|')}) code=$? ;; *) exit $? ;; esac`;
  // What a later one fails with may be among the first one's answers: git's own code for a failure stands for it.
  const script = [first, go, [...others, 'exit $code'].join(' && '), 'exit 128'].join('\n');
  return await runGit('sh', ['-c', script], { ...run, name: commands.map(commandOf).join(', ') });
}

async function runGit(
  file: string,
  args: string[],
  run: Omit<GitRun, 'args'> & { name: string },
): Promise<GitOutput> {
  const { name, cwd, env, okCodes, secrets, ...rest } = run;
  const result = await runProgram({
    ...{ ...rest, file, args, cwd },
    env: { ...HARDENED_ENV, ...env },
    maxBytes: MAX_OUTPUT_BYTES,
  }).catch((cause: unknown) => {
    run.signal?.throwIfAborted();
    throw new LaneError('git_failed', 'git could not be started; is it installed?', { cause });
  });
  const stderr = result.stderr.toString('utf8');
  const { code, signal, tooMuch, stdout } = result;
  if (code !== null && (okCodes ?? [0]).includes(code) && !tooMuch) return { code, stdout, stderr };
  throw failure(name, tooMuch ? 'too much output' : `exit ${code ?? signal}`, clean(stderr, secrets ?? []));
}

function commandOf(args: readonly string[]): string {
  return args.find((arg) => /^[a-z][a-z-]+$/.test(arg)) ?? 'git';
}

/** One word for a POSIX shell, whatever is in it. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The output of a git command as one trimmed text. */
export async function gitText(run: GitRun): Promise<string> {
  return (await git(run)).stdout.toString('utf8').trim();
}

function failure(name: string, how: string, stderr: string): LaneError {
  if (saysDisk(stderr)) return new LaneError('disk', `git ${name}`, { cause: new Error(stderr) });
  return new LaneError('git_failed', `git ${name}, ${how}: ${stderr}`);
}

/** Redacts secrets and the user part of addresses, and keeps the end, where git says why. */
function clean(text: string, secrets: readonly string[]): string {
  let cleaned = text.trim();
  for (const secret of secrets) if (secret) cleaned = cleaned.replaceAll(secret, '***');
  return cleaned.replace(/\/\/[^/\s@]*@/g, '//***@').slice(-MAX_STDERR_CHARS);
}
