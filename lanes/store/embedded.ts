/**
 * Redis as a private child: for `start`, the demo and tests where no other Redis is given. On 127.0.0.1 only, with every
 * write on disk before it is answered. Nobody gets in without a user: `default` is off, and the admin user's password
 * is kept in the data directory. It ends with its parent.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { LaneError } from '../errors.ts';
import { adminRule, adminUrl, adminUser } from './access/admin.ts';
import { lockFile } from './access/file-lock.ts';
import { passwordHash, type RedisUser, ruleFor } from './access/rule.ts';
import { makeSecretFile, newPassword, readSecretFile } from './access/secret-file.ts';
import { checkRedis } from './connect.ts';

export interface EmbeddedRedis {
  /** The admin user's, with its password: for its connections only, never for a log or an argument. */
  readonly url: string;
  readonly pid: number;
  /** Ends it, with everything on disk. */
  stop(): Promise<void>;
  /** Resolves when the process has ended, for whatever reason. */
  readonly ended: Promise<void>;
}

export interface EmbeddedOptions {
  readonly dataDir: string;
  /** The namespaces' users, which are there from the first moment. Default: none but the admin user. */
  readonly users?: () => readonly RedisUser[];
  /** Default: `redis-server`, else `valkey-server`, of PATH. */
  readonly binary?: string;
  /** Default: any free one. */
  readonly port?: number;
}

/** Where a running embedded Redis leaves its address, without a password: for commands beside `start`. */
export function embeddedUrlFile(dataDir: string): string {
  return join(dataDir, 'redis.url');
}

/** Where the admin user's password is kept. */
const passwordFile = (dataDir: string): string => join(dataDir, 'redis.password');

/**
 * The address of the Redis that runs on a data directory, with the admin user: to provision, and for nothing else.
 * @throws LaneError `store_unavailable` where none was started there.
 */
export function embeddedAdminUrl(dataDir: string): string {
  const password = readSecretFile(passwordFile(dataDir));
  if (password === null) throw new LaneError('store_unavailable', `no Redis was started in ${dataDir}`);
  return adminUrl(embeddedAddress(dataDir), password.trim());
}

/**
 * The address of the Redis that runs on a data directory.
 * @throws LaneError `store_unavailable` where none was started there.
 */
export function embeddedAddress(dataDir: string): string {
  try {
    return readFileSync(embeddedUrlFile(dataDir), 'utf8').trim();
  } catch (cause) {
    const why = `no Redis was started in ${dataDir}: start Lanekeeper, or set LANES_REDIS_URL or LANES_DATA_DIR`;
    throw new LaneError('store_unavailable', why, { cause });
  }
}

/**
 * Nobody can be `default`. It keeps its permissions: Redis replays the transactions of its log in that user's name, and
 * without a word drops what the user may not do.
 */
const lockedDefault = 'user default off resetpass ~* &* +@all';

const startWithinMs = 20_000;
const stopWithinMs = 10_000;
const lockWithinS = 3;

/**
 * Starts Redis on `dataDir`.
 * @throws LaneError `store_unavailable`: no such program, the directory is in use by another one, or it does not start.
 */
export async function startEmbeddedRedis(options: EmbeddedOptions): Promise<EmbeddedRedis> {
  const { dataDir, binary } = options;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const program = binary ?? ['redis-server', 'valkey-server'].find((name) => runs(name, ['--version']));
  if (program === undefined)
    throw new LaneError(
      'store_unavailable',
      'neither redis-server nor valkey-server is on PATH; install one',
    );
  const lock = openSync(join(dataDir, 'redis.lock'), 'a', 0o600);
  try {
    // The Redis of a parent that has just died needs a moment to end.
    const busy = `${dataDir} is in use by another Redis; stop that one, or set another data directory`;
    lockFile(lock, lockWithinS, busy);
    const password = keptPassword(passwordFile(dataDir));
    return await launch(program, lock, options.port ?? (await freePort()), password, options);
  } finally {
    // The child has its own copy of the descriptor: the lock is held for exactly as long as it lives.
    closeSync(lock);
  }
}

function runs(program: string, args: string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

function keptPassword(file: string): string {
  const kept = readSecretFile(file)?.trim();
  if (kept !== undefined && kept !== '') return kept;
  const password = newPassword();
  makeSecretFile(file, password);
  return password;
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
  { dataDir, users }: EmbeddedOptions,
): Promise<EmbeddedRedis> {
  // The configuration goes in by stdin: an argument could be read by everybody on the machine.
  const config = [
    ...['bind 127.0.0.1', `port ${port}`, `dir ${JSON.stringify(dataDir)}`, 'daemonize no'],
    ...['appendonly yes', 'appendfsync always', 'save ""', 'maxmemory-policy noeviction'],
    // A task is few fields, one of them long: packed, it costs a twentieth less than as a table. By the name that 6.2 knows too.
    'hash-max-ziplist-value 4096',
    ...[lockedDefault, `user ${adminUser} ${adminRule(password).join(' ')}`],
    ...(users?.() ?? []).map((user) => `user ${user.name} ${userLine(user)}`),
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
  const address = `redis://127.0.0.1:${port}`;
  const url = adminUrl(address, password);
  const stop = (): Promise<void> => endChild(child, ended);
  try {
    await whenUp(url, child);
    writeFileSync(embeddedUrlFile(dataDir), address, { mode: 0o600 });
  } catch (cause) {
    await stop();
    throw new LaneError('store_unavailable', `Redis did not start: ${output()}`, { cause });
  }
  return { url, pid: child.pid ?? 0, stop, ended };
}

function userLine({ namespace, password }: RedisUser): string {
  return ['on', passwordHash(password), ...ruleFor(namespace, 0)].join(' ');
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
