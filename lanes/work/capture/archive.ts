/**
 * What no patch can hold, as one tar file. The system's tar reads it: links are kept as links, a FIFO or a device is
 * noted and never opened, holes stay holes. The kernel holds tar to its bound (RLIMIT_FSIZE), so that a hostile folder
 * cannot fill the disk.
 */
import { open, rm } from 'node:fs/promises';
import { LaneError } from '../../errors.ts';
import { onDisk, saysDisk } from '../files.ts';
import { type ProgramOutput, runProgram } from '../program.ts';
import { TOOL_PATH } from '../tools.ts';
import { hashFile, type WrittenFile } from './hash.ts';

const MAX_SAID_CHARS = 500;

export type TarOutcome =
  | ({
      readonly kind: 'written';
      /** What tar could not put in, in its words: unreadable files, files that changed. Null: nothing. */
      readonly trouble: string | null;
    } & WrittenFile)
  /** It would be larger than the bound. There is no file. */
  | { readonly kind: 'too_big' };

/**
 * Writes `names`, which are paths relative to `folder`, with everything below them into the new file `toFile`, which is
 * durable afterwards but for its folder's entry. A file that a dead writer left there is replaced. A name that is not
 * there is trouble, no error. Names may not lead through symbolic links: tar would follow those.
 * @throws LaneError `disk`, or `capture_failed` where tar cannot be run.
 */
export async function tarOf(
  folder: string,
  names: readonly (string | Buffer)[],
  toFile: string,
  maxBytes: number,
): Promise<TarOutcome> {
  return await onDisk(`cannot write ${toFile}`, async () => {
    await rm(toFile, { force: true });
    const file = await open(toFile, 'wx', 0o600);
    let trouble: string | null;
    try {
      const output = await pack(folder, names, file.fd, maxBytes);
      if (output.signal === 'SIGXFSZ') {
        await rm(toFile);
        return { kind: 'too_big' };
      }
      trouble = troubleOf(output);
      await file.sync();
    } finally {
      await file.close();
    }
    return { kind: 'written', ...(await hashFile(toFile)), trouble };
  });
}

/**
 * Unpacks an archive of `tarOf` into an existing folder. Nothing is written outside of it: tar makes links last, and
 * refuses names that lead out. Owners are not restored.
 * @throws LaneError `disk`, or `capture_failed` where the archive cannot be read.
 */
export async function untar(tarFile: string, folder: string): Promise<void> {
  const output = await tar(['--extract', '--file', tarFile, '--no-same-owner', '--same-permissions'], folder);
  if (output.code === 0) return;
  const said = output.stderr.toString('utf8').slice(-MAX_SAID_CHARS);
  if (saysDisk(said)) throw new LaneError('disk', `cannot unpack ${tarFile}`, { cause: new Error(said) });
  throw new LaneError('capture_failed', `cannot unpack ${tarFile}: ${said}`);
}

async function pack(
  folder: string,
  names: readonly (string | Buffer)[],
  fd: number,
  maxBytes: number,
): Promise<ProgramOutput> {
  const input = Buffer.concat(names.flatMap((name) => [Buffer.from(name), Buffer.from([0])]));
  return await runProgram({
    file: 'prlimit',
    args: [
      ...[`--fsize=${maxBytes}`, '--core=0', '--', 'tar', '--create', '--format=gnu', '--sparse'],
      ...['--numeric-owner', '--file=-', '--directory', folder, '--null', '--verbatim-files-from'],
      ...['--files-from=-'],
    ],
    env: { PATH: TOOL_PATH, LC_ALL: 'C' },
    cwd: '/',
    input,
    stdoutFd: fd,
  });
}

function tar(args: string[], folder: string): Promise<ProgramOutput> {
  return runProgram({
    file: 'tar',
    args: [...args, '--directory', folder],
    env: { PATH: TOOL_PATH, LC_ALL: 'C' },
    cwd: '/',
  });
}

/** Exit 1 is a file that changed, 2 something that could not be read. A socket holds nothing: it is no loss. */
function troubleOf({ code, signal, stderr }: ProgramOutput): string | null {
  const lines = stderr.toString('utf8').split('\n');
  const said = lines
    .filter((line) => line !== '' && !line.endsWith(': socket ignored'))
    .join('\n')
    .slice(0, MAX_SAID_CHARS);
  if (saysDisk(said)) throw new LaneError('disk', 'tar', { cause: new Error(said) });
  if (code !== 0 && code !== 1 && code !== 2) {
    throw new LaneError('capture_failed', `tar, exit ${code ?? signal}: ${said}`);
  }
  return code === 0 && said === '' ? null : said || `tar, exit ${code}`;
}
