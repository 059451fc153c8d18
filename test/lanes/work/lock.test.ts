import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it, vi } from 'vitest';
import { lockForAgent, tryLock, waitLock } from '../../../lanes/work/lock.ts';
import { sh, temporaryFolder } from './support.ts';

const newPath = () => join(temporaryFolder(), 'owner.lock');

/** Another process that holds the lock until it is killed. */
async function holder(path: string) {
  const child = spawn('flock', ['-x', path, 'sh', '-c', 'echo held; exec sleep 1000'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  await once(child.stdout, 'data');
  return child;
}

it('one of two attempts at the same time wins, and the other learns at once', async () => {
  for (let round = 0; round < 20; round++) {
    const path = newPath();
    const both = await Promise.all([tryLock(path), tryLock(path)]);
    expect(both.filter((lock) => lock !== null)).toHaveLength(1);
    for (const lock of both) await lock?.release();
  }
});

it('a released lock can be taken again, and a second release does nothing', async () => {
  const path = newPath();
  const first = await tryLock(path);
  expect(first?.held).toBe(true);
  await first?.release();
  await first?.release();
  expect(first?.held).toBe(false);
  const second = await tryLock(path);
  expect(second).not.toBeNull();
  await second?.release();
});

it('the kernel frees a lock when its holder is killed', async () => {
  const path = newPath();
  const child = await holder(path);
  expect(await tryLock(path)).toBeNull();
  process.kill(-(child.pid ?? 0), 'SIGKILL');
  await once(child, 'exit');
  const lock = await vi.waitFor(async () => (await tryLock(path)) ?? expect.fail('still locked'), {
    timeout: 30_000,
  });
  expect(lock.held).toBe(true);
  await lock.release();
});

it('a holder that is stopped still holds', async () => {
  const path = newPath();
  const child = await holder(path);
  process.kill(-(child.pid ?? 0), 'SIGSTOP');
  expect(await tryLock(path)).toBeNull();
  process.kill(-(child.pid ?? 0), 'SIGKILL');
  await once(child, 'exit');
});

it('a waiter whose file was replaced meanwhile gets the lock of the new file', async () => {
  const path = newPath();
  const first = await tryLock(path);
  const waiting = waitLock(path, 60_000);
  const waiter = new RegExp(`-> FLOCK.*:${statSync(path).ino} `);
  await vi.waitFor(() => expect(readFileSync('/proc/locks', 'utf8')).toMatch(waiter), { timeout: 20_000 });
  writeFileSync(`${path}.new`, '');
  renameSync(`${path}.new`, path);
  await first?.release();
  const second = await waiting;
  expect(await tryLock(path)).toBeNull();
  await second.release();
});

it('a child that is started while a lock is held does not inherit it', async () => {
  const path = newPath();
  const lock = await tryLock(path);
  const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
  await once(child, 'spawn');
  await lock?.release();
  const again = await tryLock(path);
  expect(again).not.toBeNull();
  await again?.release();
  child.kill('SIGKILL');
});

it('a lock survives that nobody refers to its object', async () => {
  const path = newPath();
  await tryLock(path);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  for (let i = 0; i < 5; i++) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(() => sh('/', 'flock', '-n', '-x', path, 'true')).toThrow();
});

it('waiting ends when the lock is free, when time is up, and when it is stopped', async () => {
  const path = newPath();
  const first = await tryLock(path);
  await expect(waitLock(path, 50)).rejects.toMatchObject({ code: 'copy_failed' });
  const stop = new AbortController();
  const stopped = waitLock(path, 60_000, stop.signal);
  stop.abort(new Error('shutdown'));
  await expect(stopped).rejects.toThrow('shutdown');
  const waiting = waitLock(path, 60_000);
  await first?.release();
  const second = await waiting;
  expect(second.held).toBe(true);
  await second.release();
});

it("an agent's lock lasts as long as any process has its descriptor", async () => {
  const path = newPath();
  const handle = await lockForAgent(path);
  const child = spawn('sleep', ['1000'], { stdio: ['ignore', 'ignore', 'ignore', handle?.fd ?? 'ignore'] });
  await once(child, 'spawn');
  await handle?.close();
  expect(await lockForAgent(path)).toBeNull();
  child.kill('SIGKILL');
  await once(child, 'exit');
  const free = await lockForAgent(path);
  expect(free).not.toBeNull();
  await free?.close();
});
