/** Copies whose files are not what git expects: links out, pipes, devices, names, locks, files that will not be read. */
import { spawn } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Receipt } from '../../../../lanes/records/copies.ts';
import { captureGit } from '../../../../lanes/work/capture/capture-git.ts';
import { leftBehind } from '../../../../lanes/work/capture/left-behind.ts';
import { captureResult, captureWork } from '../../../../lanes/work/capture.ts';
import { outboxPaths } from '../../../../lanes/work/outbox.ts';
import { applied, captureAfter } from '../capture-support.ts';
import { makeCopy, makePlace, makeRemote, put, sh, temporaryFolder } from '../support.ts';

const patient = { timeout: 120_000 };
const isRoot = process.getuid?.() === 0;

/** Binds a socket at a path and ends, as a killed server leaves it. */
function leaveSocket(dir: string, path: string): void {
  const listen = `require('net').createServer().listen('${path}', () => process.kill(process.pid, 'SIGKILL'))`;
  expect(() => sh(dir, process.execPath, '-e', listen)).toThrow();
}

interface Shape {
  make(dir: string, outside: string): void;
  expected: Partial<Receipt>;
}

const complete = { partial: false, missing: [] };
const shapes: Record<string, Shape> = {
  'links out of the copy, to files, to folders and to the root': {
    make(dir, outside) {
      put(outside, 'secret', 'secret');
      symlinkSync(join(outside, 'secret'), join(dir, 'to-file'));
      symlinkSync(outside, join(dir, 'to-folder'));
      symlinkSync('/', join(dir, 'to-root'));
      symlinkSync('to-root', join(dir, 'to-link'));
      symlinkSync('itself', join(dir, 'itself'));
    },
    expected: { ...complete, files: 5 },
  },
  'a folder that became a link to one with the same names': {
    make(dir, outside) {
      put(outside, 'file', 'secret');
      rmSync(join(dir, 'folder'), { recursive: true });
      symlinkSync(outside, join(dir, 'folder'));
    },
    expected: { ...complete, files: 2 },
  },
  'locks of git that somebody left': {
    make(dir) {
      put(dir, '.git/index.lock', '');
      put(dir, '.git/HEAD.lock', '');
      put(dir, 'new.txt', 'n');
    },
    expected: { ...complete, files: 1 },
  },
  'a git directory that is gone': {
    make(dir) {
      rmSync(join(dir, '.git'), { recursive: true });
      put(dir, 'new.txt', 'n');
    },
    expected: { ...complete, files: 1 },
  },
  'a git directory of rubbish': {
    make(dir) {
      for (const name of ['HEAD', 'config', 'index', 'packed-refs']) put(dir, `.git/${name}`, '\0rubbish');
      put(dir, 'new.txt', 'n');
    },
    expected: { ...complete, files: 1 },
  },
  'pipes and sockets, beside files and in their place': {
    make(dir) {
      sh(dir, 'mkfifo', 'pipe', 'folder/pipe');
      rmSync(join(dir, 'tracked'));
      sh(dir, 'mkfifo', 'tracked');
      leaveSocket(dir, 'socket');
      put(dir, 'new.txt', 'n');
    },
    expected: {
      partial: true,
      missing: ['folder/pipe', 'pipe', 'socket', 'tracked'].map((path) => ({ path, why: 'special_file' })),
    },
  },
  'pipes that git would wait for without end': {
    make(dir) {
      sh(dir, 'mkfifo', '.gitignore', '.gitattributes', 'folder/.gitignore', '.gitmodules');
      put(dir, 'new.txt', 'n');
    },
    expected: {
      files: 1,
      missing: ['.gitattributes', '.gitignore', '.gitmodules', 'folder/.gitignore'].map((path) => ({
        path,
        why: 'special_file',
      })),
    },
  },
  'links in the place of the files that steer git': {
    make(dir) {
      for (const name of ['.gitignore', '.gitattributes']) symlinkSync('/dev/zero', join(dir, name));
      put(dir, 'new.txt', 'n');
    },
    expected: { ...complete, files: 3 },
  },
  'folders in the place of the files that steer git': {
    make(dir) {
      for (const name of ['.gitignore', '.gitattributes', '.gitmodules']) put(dir, `${name}/inside`, 'x');
    },
    expected: { ...complete, files: 3 },
  },
};

describe('a copy with', () => {
  it.each(Object.entries(shapes))('%s', patient, async (_name, { make, expected }) => {
    const outside = temporaryFolder();
    const files = { tracked: 't', 'folder/file': 'f' };
    const { receipt, tree, place, copy } = await captureAfter((dir) => make(dir, outside), files);
    const missing = [...receipt.missing].sort((a, b) => (a.path < b.path ? -1 : 1));
    expect({ ...receipt, missing }).toMatchObject(expected);
    expect(tree).toBe(receipt.tree);
    expect(readFileSync(outboxPaths(place, copy.id).patch, 'latin1')).not.toMatch(/^\+secret/m);
  });

  it.runIf(isRoot)('devices, which only root can make: none is opened', patient, async () => {
    const { receipt } = await captureAfter((dir) => {
      sh(dir, 'mknod', 'zero', 'c', '1', '5');
      sh(dir, 'mknod', '.gitattributes', 'c', '1', '5');
      sh(dir, 'mknod', 'disk', 'b', '7', '250');
      put(dir, 'new.txt', 'n');
    });
    expect(receipt.missing.map(({ path, why }) => [path, why]).sort()).toEqual(
      ['.gitattributes', 'disk', 'zero'].map((path) => [path, 'special_file']),
    );
    expect(receipt.files).toBe(1);
  });

  it('an endless file that steers git is no capture, and is kept', patient, async () => {
    const place = await makePlace();
    const copy = await makeCopy(place, makeRemote({ a: 'a' }));
    sh(copy.paths.work, 'truncate', '-s', '1T', '.gitignore');
    await expect(captureResult(place, copy, 'none')).rejects.toMatchObject({ code: 'capture_failed' });
    expect(existsSync(join(copy.paths.work, '.gitignore'))).toBe(true);
    expect(existsSync(outboxPaths(place, copy.id).receipt)).toBe(false);
  });

  it('a pipe in the way of a running agent is no checkpoint, and stays', patient, async () => {
    const place = await makePlace();
    const copy = await makeCopy(place, makeRemote({ a: 'a' }));
    sh(copy.paths.work, 'mkfifo', '.gitignore');
    const order = { kind: 'checkpoint', containment: 'none', tornPossible: false } as const;
    await expect(captureWork(place, copy, order)).rejects.toMatchObject({ code: 'capture_failed' });
    expect(lstatSync(join(copy.paths.work, '.gitignore')).isFIFO()).toBe(true);
  });
});

describe('files that open', () => {
  it('and are not as they were added are unsettled', async () => {
    const place = await makePlace();
    const copy = await makeCopy(place, makeRemote({ a: 'a' }));
    const status = { changes: [], differing: ['a', 'gone'], untracked: false, ignored: 0, newGitlinks: [] };
    const nothing = { warnings: '', unreadable: [], special: [], large: [], repositories: [] };
    expect(await leftBehind(captureGit(copy, 'index.capture'), { ...nothing, status })).toEqual([
      { path: 'a', why: 'unsettled' },
      { path: 'gone', why: 'unsettled' },
    ]);
  });
});

it('a file that somebody writes to all the while is whole at some time, or named', patient, async () => {
  const place = await makePlace();
  const remote = makeRemote({ busy: 'x' });
  const copy = await makeCopy(place, remote);
  mkdirSync(join(copy.paths.work, 'many'));
  const write = `setInterval(() => { const s = String(Math.random()); fs.writeFileSync('busy', s.repeat(900));
    fs.writeFileSync('many/' + s, s); }, 2)`;
  const writer = spawn(process.execPath, ['-e', write], { cwd: copy.paths.work, stdio: 'ignore' });
  try {
    const receipt = await captureResult(place, copy, 'none');
    expect(await applied(place, remote, copy)).toBe(receipt.tree);
    expect(receipt.missing.every(({ why }) => why === 'unsettled')).toBe(true);
  } catch (error) {
    expect(error).toMatchObject({ code: expect.stringMatching(/^(?:capture|git)_failed$/) });
    expect(existsSync(outboxPaths(place, copy.id).receipt)).toBe(false);
  } finally {
    const ended = new Promise((resolve) => writer.once('exit', resolve));
    writer.kill('SIGKILL');
    await ended;
  }
});

it('a thousand files in one folder are all there', patient, async () => {
  const { receipt, tree } = await captureAfter((dir) => {
    mkdirSync(join(dir, 'many'));
    for (let n = 0; n < 1_000; n += 1) writeFileSync(join(dir, 'many', `${n}`), `${n}`);
  });
  expect(receipt).toMatchObject({ files: 1_000, partial: false });
  expect(tree).toBe(receipt.tree);
});
