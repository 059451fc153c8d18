/**
 * Redis as a private child: for `start`, the demo and tests where no other Redis is given. On 127.0.0.1 only, behind a
 * password that is kept in the data directory, with every write on disk before it is answered. It ends with its parent.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { LaneError } from '../errors.ts';
import { checkRedis } from './connect.ts';

export interface EmbeddedRedis {
  /** With the password: for connections only, never for a log or an argument. */
  readonly url: string;
  readonly pid: number;
  /** Ends it, with everything on disk. */
  stop(): Promise<void>;
  /** Resolves when the process has ended, for whatever reason. */
  readonly ended: Promise<void>;
}

export interface EmbeddedOptions {
  readonly dataDir: string;
  /** Default: `redis-server`, else `valkey-server`, of PATH. */
  readonly binary?: string;
  /** Default: any free one. */
  readonly port?: number;
}

/** Where a running embedded Redis leaves its address, with the password: for commands beside `start`. */
export function embeddedUrlFile(dataDir: string): string {
  return join(dataDir, 'redis.url');
}

const startWithinMs = 20_000;
const stopWithinMs = 10_000;
const lockWithinS = 3;

/**
 * Starts Redis on `dataDir`.
 * @throws LaneError `store_unavailable`: no such program, the directory is in use by another one, or it does not start.
 */
export async function startEmbeddedRedis({ dataDir, binary, port }: EmbeddedOptions): Promise<EmbeddedRedis> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const program = binary ?? ['redis-server', 'valkey-server'].find((name) => runs(name, ['--version']));
  if (program === undefined)
    throw new LaneError(
      'store_unavailable',
      'neither redis-server nor valkey-server is on PATH; install one',
    );
  const lock = openSync(join(dataDir, 'redis.lock'), 'a', 0o600);
  try {
    lockOrThrow(lock, dataDir);
    const password = keptPassword(join(dataDir, 'redis.password'));
    return await launch(program, lock, port ?? (await freePort()), password, dataDir);
  } finally {
    // The child has its own copy of the descriptor: the lock is held for exactly as long as it lives.
    closeSync(lock);
  }
}

function runs(program: string, args: string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

/**
 * The kernel's lock, taken on our descriptor by flock(1); it is released with the last process that has it open. The
 * Redis of a parent that has just died needs a moment to end.
 */
function lockOrThrow(lock: number, dataDir: string): void {
  const { status, error } = spawnSync('flock', ['-w', String(lockWithinS), '-x', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', lock],
  });
  if (status === 0) return;
  const why =
    error === undefined
      ? `${dataDir} is in use by another Redis; stop that one, or set another data directory`
      : 'flock (util-linux) is not on PATH; install it, or give the address of a Redis';
  throw new LaneError('store_unavailable', why, { cause: error });
}

function keptPassword(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    const password = randomBytes(24).toString('base64url');
    writeFileSync(file, password, { mode: 0o600, flag: 'wx' });
    return password;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

async function launch(
  program: string,
  lock: number,
  port: number,
  password: string,
  dataDir: string,
): Promise<EmbeddedRedis> {
  // The configuration goes in by stdin: an argument could be read by everybody on the machine.
  const config = [
    ...['bind 127.0.0.1', `port ${port}`, `dir ${JSON.stringify(dataDir)}`, `requirepass ${password}`],
    ...['appendonly yes', 'appendfsync always', 'save ""', 'maxmemory-policy noeviction', 'daemonize no'],
  ];
  const withDeath = runs('setpriv', ['--pdeathsig', 'TERM', 'true'])
    ? ['setpriv', '--pdeathsig', 'TERM']
    : [];
  const [command = program, ...args] = [...withDeath, program, '-'];
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe', lock], detached: true });
  child.stdin?.on('error', () => {});
  child.stdin?.end(`${config.join('\n')}\n`);
  const output = lastWords(child);
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const url = `redis://:${encodeURIComponent(password)}@127.0.0.1:${port}`;
  const stop = (): Promise<void> => endChild(child, ended);
  try {
    await whenUp(url, child);
    writeFileSync(embeddedUrlFile(dataDir), url, { mode: 0o600 });
  } catch (cause) {
    await stop();
    throw new LaneError('store_unavailable', `Redis did not start: ${output()}`, { cause });
  }
  return { url, pid: child.pid ?? 0, stop, ended };
}

/** The end of what it printed, for the one line that says why it did not start. */
function lastWords(child: ChildProcess): () => string {
  let text = '';
  const take = (chunk: Buffer): void => {
    text = (text + chunk.toString('utf8')).slice(-2_000);
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  return () => text.trim().split('\n').slice(-3).join(' | ');
}

async function whenUp(url: string, child: ChildProcess): Promise<void> {
  const until = performance.now() + startWithinMs;
  for (;;) {
    try {
      return await checkRedis(url);
    } catch (error) {
      const over = child.exitCode !== null || child.signalCode !== null || performance.now() > until;
      if (over || child.pid === undefined) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

async function endChild(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), stopWithinMs);
  await ended;
  clearTimeout(timer);
}
