/**
 * Runs one short program of the system as ourselves and collects what it says. It is spawned directly, without a
 * shell, with the environment that is given and nothing else; a descriptor may be handed to it.
 */
import { spawn } from 'node:child_process';

/** Between SIGTERM, on which git removes its lock files, and SIGKILL. */
const STOP_GRACE_MS = 2_000;

export interface ProgramRun {
  file: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  input?: Uint8Array | string;
  /** Standard output goes straight into this descriptor instead of into memory. */
  stdoutFd?: number;
  /** Becomes descriptor 3 of the program. */
  thirdFd?: number;
  /** More output than this on one stream ends the program. Default 1 MB. */
  maxBytes?: number;
  signal?: AbortSignal;
}

export interface ProgramOutput {
  /** The exit code, or null where a signal ended it. */
  code: number | null;
  signal: string | null;
  tooMuch: boolean;
  stdout: Buffer;
  stderr: Buffer;
}

/** Rejects if the program cannot be started, or with the signal's reason. An exit code is an answer, not an error. */
export async function runProgram(run: ProgramRun): Promise<ProgramOutput> {
  run.signal?.throwIfAborted();
  const output = await new Promise<ProgramOutput>((resolve, reject) => {
    const child = spawn(run.file, run.args, {
      cwd: run.cwd,
      env: run.env,
      // A group of its own, to be ended as a whole: git's helper for HTTP outlives git and keeps its output open.
      detached: true,
      stdio: [
        run.input === undefined ? 'ignore' : 'pipe',
        run.stdoutFd ?? 'pipe',
        'pipe',
        ...(run.thirdFd === undefined ? [] : [run.thirdFd]),
      ],
    });
    let killTimer: NodeJS.Timeout | undefined;
    const stop = () => {
      signalGroup(child.pid, 'SIGTERM');
      killTimer ??= setTimeout(() => signalGroup(child.pid, 'SIGKILL'), STOP_GRACE_MS);
    };
    const limit = run.maxBytes ?? 1024 * 1024;
    const [stdout, stderr] = [collect(child.stdout, limit, stop), collect(child.stderr, limit, stop)];
    run.signal?.addEventListener('abort', stop, { once: true });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearTimeout(killTimer);
      run.signal?.removeEventListener('abort', stop);
      const tooMuch = stdout.bytes > limit || stderr.bytes > limit;
      resolve({
        code,
        signal,
        tooMuch,
        stdout: Buffer.concat(stdout.chunks),
        stderr: Buffer.concat(stderr.chunks),
      });
    });
    // A program that ends without reading its input says why by its exit code.
    child.stdin?.on('error', () => {});
    child.stdin?.end(run.input);
  });
  run.signal?.throwIfAborted();
  return output;
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended already.
  }
}

interface Collected {
  chunks: Buffer[];
  bytes: number;
}

function collect(stream: NodeJS.ReadableStream | null, limit: number, stop: () => void): Collected {
  const collected: Collected = { chunks: [], bytes: 0 };
  stream?.on('data', (chunk: Buffer) => {
    collected.bytes += chunk.length;
    if (collected.bytes > limit) stop();
    else collected.chunks.push(chunk);
  });
  return collected;
}
