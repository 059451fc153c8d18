/**
 * A look over the copy's files before git sees them, by the system's `find`, which opens none of them: what git could
 * not take, would hang on, or passes over without a word.
 */
import { rm } from 'node:fs/promises';
import { LaneError } from '../../errors.ts';
import { saysDisk } from '../files.ts';
import { runProgram } from '../program.ts';
import { TOOL_PATH } from '../tools.ts';
import { diskPath, nulList } from './paths.ts';

/** Files over this are looked at one by one: whether they changed, and whether the patch can take them. */
const NOTABLE_BYTES = 1024 * 1024;
/** Of the list of what was found. A copy that has more than this is nobody's work. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;
/** Git reads these whole, whoever wrote them. */
const MAX_CONTROL_FILE_BYTES = 10 * 1024 * 1024;
const CONTROL_FILE = /(?:^|\/)\.git(?:ignore|attributes|modules)$/;

export interface NotableFile {
  /** As `nulList` gives it. */
  readonly path: string;
  readonly bytes: number;
}

export interface Surroundings {
  readonly large: readonly NotableFile[];
  /** FIFOs, sockets and devices: they hold nothing, and git does not list them. */
  readonly special: readonly string[];
  /** What is called `.git`, in any case, but the copy's own: git adds nothing that lies below such a name. */
  readonly gitNames: readonly string[];
  /** What could not be looked at. Git passes over the files of a folder that may be listed but not entered. */
  readonly unreadable: readonly string[];
  /** Whether a .gitattributes lies anywhere: without one, git converts nothing. */
  readonly attributes: boolean;
}

// `%s` is the apparent size. Nothing below a `.git` is looked at: it is taken as a whole, if at all.
const LOOK = [
  ...['.', '-xdev', '-mindepth', '1', '-path', './.git', '-prune', '-o'],
  ...['-iname', '.git', '-prune', '-printf', 'g 0 %P\\0', '-o'],
  ...['-name', '.gitattributes', '-printf', 'a %s %P\\0', '-false', '-o'],
  ...['-type', 'f', '-size', `+${NOTABLE_BYTES}c`, '-printf', 'f %s %P\\0', '-o'],
  ...['(', '-type', 'p', '-o', '-type', 's', '-o', '-type', 'b', '-o', '-type', 'c', ')'],
  ...['-printf', 's 0 %P\\0'],
];

/** @throws LaneError `capture_failed`, `disk`. */
export async function lookAround(work: string): Promise<Surroundings> {
  const env = { PATH: TOOL_PATH, LC_ALL: 'C' };
  const output = await runProgram({ file: 'find', args: LOOK, env, cwd: work, maxBytes: MAX_LIST_BYTES });
  const said = output.stderr.toString('latin1');
  if (saysDisk(said)) throw new LaneError('disk', 'find', { cause: new Error(said) });
  if (output.tooMuch || (output.code !== 0 && output.code !== 1)) {
    throw new LaneError(
      'capture_failed',
      `find, exit ${output.code ?? output.signal}: ${said.slice(0, 500)}`,
    );
  }
  const found: Record<string, NotableFile[]> = { f: [], s: [], g: [], a: [] };
  for (const entry of nulList(output.stdout)) {
    const [, kind = '', bytes = '', path = ''] = /^(\w) (\d+) (.*)$/s.exec(entry) ?? [];
    found[kind]?.push({ path, bytes: Number(bytes) });
  }
  const paths = (kind: string) => (found[kind] ?? []).map(({ path }) => path);
  const attributes = paths('a').length > 0;
  // A file that is gone since it was listed is no work; one that was there and stays closed is.
  const refused = said.matchAll(/^find: '\.\/(.*)': (?!No such file)/gm);
  const unreadable = [...refused].map(([, path]) => path ?? '');
  return { large: found.f ?? [], special: paths('s'), gitNames: paths('g'), unreadable, attributes };
}

/**
 * Takes out of git's way what it would read without end: a FIFO called .gitignore stops `git add` for ever, a sparse
 * .gitattributes of terabytes fills the memory. The first kind holds nothing and goes; the second is somebody's file.
 * @throws LaneError `capture_failed` where one must not be removed.
 */
export async function clearTheWay(work: string, around: Surroundings, mayRemove: boolean): Promise<void> {
  const huge = around.large.find(
    ({ path, bytes }) => CONTROL_FILE.test(path) && bytes > MAX_CONTROL_FILE_BYTES,
  );
  if (huge !== undefined) throw new LaneError('capture_failed', `${huge.path} has ${huge.bytes} bytes`);
  for (const path of around.special.filter((name) => CONTROL_FILE.test(name))) {
    if (!mayRemove) throw new LaneError('capture_failed', `git would wait for ${path} without end`);
    await rm(diskPath(work, path));
  }
}
