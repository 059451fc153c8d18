/**
 * A private Redis for a test file. Where LANES_REDIS_URL is set, that one is used instead: the logical database that it
 * names must be empty, and is emptied again.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { Redis } from 'ioredis';
import { checkRedis } from '../../lanes/index.ts';
import { aclLines, provisionTestUsers } from './redis-users.ts';

export interface TestRedis {
  readonly url: string;
  stop(): Promise<void>;
}

export interface OwnRedis extends TestRedis {
  /** Ends the process as a crash would; what was answered is on disk. */
  kill(): Promise<void>;
  /** Starts it again, on the same port and data; with the users that it had, or with the test's alone. */
  start(users?: 'kept' | 'lost'): Promise<void>;
}

export async function startTestRedis(): Promise<TestRedis> {
  const given = env.LANES_REDIS_URL;
  if (given === undefined || given === '') return startOwnRedis();
  const redis = new Redis(given);
  if ((await redis.dbsize()) > 0) {
    redis.disconnect();
    throw new Error('LANES_REDIS_URL names a database that is not empty; name an empty one, such as …/9');
  }
  await provisionTestUsers(given);
  return {
    url: given,
    stop: async () => {
      await redis.flushdb();
      redis.disconnect();
    },
  };
}

/** A Redis process of our own, which a test may kill and start again. */
export async function startOwnRedis(): Promise<OwnRedis> {
  const dir = await mkdtemp(join(tmpdir(), 'lanes-redis-'));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child?.once('exit', resolve));
    child.kill(signal);
    await gone;
  };
  const start = async (users: 'kept' | 'lost' = 'kept'): Promise<void> => {
    if (users === 'lost') await writeFile(join(dir, 'users.acl'), `${aclLines().join('\n')}\n`);
    child = spawnRedis(port, dir);
    await whenUp(url);
  };
  await start('lost');
  const stop = async (): Promise<void> => {
    await end('SIGKILL');
    await rm(dir, { recursive: true, force: true });
  };
  return { url, start, kill: () => end('SIGKILL'), stop };
}

function spawnRedis(port: number, dir: string): ChildProcess {
  const options = ['--bind', '127.0.0.1', '--port', String(port), '--dir', dir, '--save', ''];
  // Left to the system to sync: what was answered is written then, which is all that a kill asks for. With `everysec`
  // Redis puts writing off while the disk is slow, and a kill loses what was answered.
  const files = ['--appendonly', 'yes', '--appendfsync', 'no', '--aclfile', join(dir, 'users.acl')];
  const argv = ['redis-server', ...options, ...files];
  const setpriv = ['setpriv', '--pdeathsig', 'KILL'];
  const known = spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true'], { stdio: 'ignore' }).status === 0;
  const [command = 'redis-server', ...args] = known ? [...setpriv, ...argv] : argv;
  return spawn(command, args, { stdio: 'ignore' });
}

async function whenUp(url: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await checkRedis(url);
    } catch (error) {
      if (attempt > 400) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
