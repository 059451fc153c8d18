import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  addressOf,
  admitsAnybody,
  checkRedis,
  type EmbeddedRedis,
  keepEmbeddedRedis,
  startEmbeddedRedis,
} from '../../../lanes/index.ts';
import { builtProgram } from '../../support/programs.ts';
import { freePort, startOwnRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

let dataDir: string;
let started: EmbeddedRedis[];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'lanes-embedded-'));
  started = [];
});
afterEach(async () => {
  for (const redis of started) await redis.stop();
  await rm(dataDir, { recursive: true, force: true });
});

async function start(): Promise<EmbeddedRedis> {
  const redis = await startEmbeddedRedis({ dataDir });
  started.push(redis);
  return redis;
}

/** Redis counts its life in whole seconds; three of them are over two. */
async function livedLong(redis: Redis): Promise<boolean> {
  return Number(/^uptime_in_seconds:(\d+)/m.exec(await redis.info('server'))?.[1]) >= 3;
}

async function pidOf(url: string): Promise<number> {
  const info = await use(url, (redis) => redis.info('server'));
  return Number(/^process_id:(\d+)/m.exec(info)?.[1]);
}

async function use<T>(url: string, act: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { maxRetriesPerRequest: 0 });
  redis.on('error', () => {});
  return act(redis).finally(() => redis.disconnect());
}

describe('the embedded Redis', () => {
  it('puts every write on disk, refuses to evict, and listens on this machine only', async () => {
    const { url } = await start();
    const settings = ['appendonly', 'appendfsync', 'maxmemory-policy', 'bind'];
    const found = await use(url, (redis) => Promise.all(settings.map((name) => redis.config('GET', name))));
    expect(found.map((pair) => (pair as string[])[1])).toEqual(['yes', 'always', 'noeviction', '127.0.0.1']);
  });

  it('lets nobody in without a user, has default off, and shows its password to its owner alone', async () => {
    const { url, pid } = await start();
    const password = new URL(url).password;
    const file = join(dataDir, 'redis.password');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).toBe(password);
    expect(await readFile(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(password);
    const open = addressOf(url);
    await expect(use(open, (redis) => redis.get('x'))).rejects.toThrow(/NOAUTH/);
    expect(await use(url, (redis) => redis.call('ACL', 'LIST'))).toContainEqual(
      expect.stringMatching(/^user default off (?!.*nopass)/),
    );
    expect(await readFile(join(dataDir, 'redis.url'), 'utf8')).toBe(open);
  });

  it('keeps data and password over a restart', async () => {
    const first = await start();
    await use(first.url, (redis) => redis.set('x', '1'));
    await first.stop();
    const second = await start();
    expect(await use(second.url, (redis) => redis.get('x'))).toBe('1');
    expect(new URL(second.url).password).toBe(new URL(first.url).password);
  });

  it('keeps what a script wrote in several commands, though default is off', async () => {
    const first = await start();
    const twoWrites = "redis.call('SET', KEYS[1], '1') return redis.call('SET', KEYS[2], '2')";
    await use(first.url, (redis) => redis.eval(twoWrites, 2, 'x', 'y'));
    await first.stop();
    const second = await start();
    expect(await use(second.url, (redis) => redis.mget('x', 'y'))).toEqual(['1', '2']);
  });

  it('is the only one on its data directory', async () => {
    await start();
    await expect(start()).rejects.toMatchObject({
      code: 'store_unavailable',
      message: /in use by another Redis/,
    });
  });

  it('lets one of two that start at once have the directory', async () => {
    const both = await Promise.allSettled([start(), start()]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('ends with its parent, and frees the directory', async () => {
    const parent = spawn(process.execPath, [builtProgram('embedded-parent'), dataDir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(parent.stdout, 'data');
    const pid = Number(String(line));
    parent.kill('SIGKILL');
    await until('the child is gone', async () => {
      try {
        process.kill(pid, 0);
        return false;
      } catch {
        return true;
      }
    });
    expect((await start()).pid).not.toBe(pid);
  });

  it('waits for the Redis of a parent that has just died', async () => {
    const parent = spawn(process.execPath, [builtProgram('embedded-parent'), dataDir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const pid = Number(String((await once(parent.stdout, 'data'))[0]));
    // It ends as soon as it may go on, which is while the next one asks for the directory.
    process.kill(pid, 'SIGSTOP');
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    spawn('sh', ['-c', `sleep 0.5; kill -CONT ${pid}`]);
    expect((await start()).pid).not.toBe(pid);
  });

  it('says in one line what is wrong where it cannot start', async () => {
    const missing = startEmbeddedRedis({ dataDir, binary: '/nowhere/redis-server' });
    await expect(missing).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});

describe('the kept Redis', () => {
  it('is started again when it dies, at the same address and with what was written', async () => {
    const deaths: number[] = [];
    const kept = await keepEmbeddedRedis({
      dataDir,
      users: () => [],
      onDeath: () => void deaths.push(Date.now()),
    });
    const die = async () => process.kill(await pidOf(kept.url), 'SIGKILL');
    const isUp = () =>
      checkRedis(kept.url).then(
        () => true,
        () => false,
      );
    await use(kept.url, (redis) => redis.set('x', '1'));
    await until('it has lived for a while', () => use(kept.url, livedLong));
    await die();
    await until('it is up again', async () => deaths.length === 1 && (await isUp()));
    expect(await use(kept.url, (redis) => redis.get('x'))).toBe('1');
    // Dead again at once: it is not worth another start.
    await die();
    await kept.ended;
    await kept.stop();
  });

  it('stays stopped', async () => {
    const kept = await keepEmbeddedRedis({ dataDir, users: () => [], onDeath: () => {} });
    await kept.stop();
    await kept.ended;
    await expect(checkRedis(kept.url)).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});

describe('the look at Redis before a start', () => {
  it('accepts a primary', async () => {
    const server = await startOwnRedis();
    await expect(checkRedis(server.url)).resolves.toBeUndefined();
    await server.stop();
  });

  it('refuses a replica', async () => {
    const server = await startOwnRedis();
    await use(server.url, (redis) => redis.replicaof('127.0.0.1', 1));
    await expect(checkRedis(server.url)).rejects.toMatchObject({ message: /replica/ });
    await server.stop();
  });

  it('tells a Redis that lets everybody in from one that asks for a password', async () => {
    const open = await startOwnRedis();
    expect(await admitsAnybody(open.url)).toBe(true);
    await open.stop();
    expect(await admitsAnybody(open.url)).toBe(false);
    expect(await admitsAnybody((await start()).url)).toBe(false);
  });

  it('names a Redis that is not there, or does not let us in', async () => {
    const nobody = `redis://127.0.0.1:${await freePort()}`;
    await expect(checkRedis(nobody)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: /ECONNREFUSED/,
    });
    const { url } = await start();
    await expect(checkRedis(url.replace(/:[^:@]*@/, ':wrong@'))).rejects.toMatchObject({
      code: 'store_refused',
    });
    await expect(checkRedis(addressOf(url))).rejects.toMatchObject({ code: 'store_refused' });
  });
});
