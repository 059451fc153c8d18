import { existsSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it, vi } from 'vitest';
import { captureResult } from '../../../lanes/work/capture.ts';
import { findReceipts, openPatch, outboxPaths } from '../../../lanes/work/outbox.ts';
import { applied, base, captureAfter } from './capture-support.ts';
import { makeCopy, makePlace, makeRemote, put, sh } from './support.ts';

/** The tree that an agent's own git would make of the folder. */
function treeOf(dir: string): string {
  sh(dir, 'git', 'add', '-A');
  return sh(dir, 'git', 'write-tree');
}

describe('a capture', () => {
  const changes: Record<string, (dir: string) => void> = {
    'an added file': (dir) => put(dir, 'new/deep/file.txt', 'new\n'),
    'a changed file': (dir) => put(dir, 'change.txt', 'one\n2\nthree\n'),
    'a change without a newline at the end': (dir) => put(dir, 'change.txt', 'one'),
    'a removed file': (dir) => rmSync(join(dir, 'remove.txt')),
    'a renamed file': (dir) => renameSync(join(dir, 'rename.txt'), join(dir, 'renamed.txt')),
    'a changed mode': (dir) => put(dir, 'tool.sh', '#!/bin/sh\n', 0o755),
    'a changed binary file': (dir) => put(dir, 'image.bin', Buffer.from([9, 0, 255, 13, 10])),
    'a file that became a symbolic link': (dir) => {
      rmSync(join(dir, 'link-me'));
      symlinkSync('/etc/passwd', join(dir, 'link-me'));
    },
    'a file that became a folder': (dir) => {
      rmSync(join(dir, 'link-me'));
      put(dir, 'link-me/inside', 'y');
    },
    'a path with spaces, quotes, a newline and no UTF-8': (dir) => {
      put(dir, 'a "b"\n\tc.txt', 'x');
      writeFileSync(Buffer.concat([Buffer.from(`${dir}/`), Buffer.from([0xff, 0xfe, 0x41])]), 'x');
    },
    'a pathspec as a name': (dir) => put(dir, ':(exclude)x', 'x'),
    'an empty file': (dir) => put(dir, 'empty', ''),
    'CRLF line ends': (dir) => put(dir, 'crlf.txt', 'a\r\nb\r\n'),
  };
  it.each(Object.entries(changes))('applied to the base gives back %s', async (_name, work) => {
    const { copy, receipt, tree } = await captureAfter(work);
    expect(tree).toBe(receipt.tree);
    expect(tree).toBe(treeOf(copy.paths.work));
    expect(receipt).toMatchObject({ partial: false, missing: [], emptied: false });
    expect(receipt.files).toBeGreaterThan(0);
  });

  it('holds a change of the same size made in the second of the checkout', async () => {
    const place = await makePlace();
    const remote = makeRemote(base);
    const second = (path: string) => Math.floor(statSync(path).mtimeMs / 1_000);
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const copy = await makeCopy(place, remote);
      const file = join(copy.paths.work, 'change.txt');
      const checkedOut = second(file);
      writeFileSync(file, 'one\nTWO\nthree\n');
      // Only a change in the same second is the case in question.
      if (second(file) !== checkedOut) continue;
      // An index that is made in a later second looks older than no file, unless its time is kept back.
      await vi.waitUntil(() => Math.floor(Date.now() / 1_000) > checkedOut, { timeout: 30_000 });
      expect((await captureResult(place, copy, 'none')).files).toBe(1);
      return;
    }
    expect.unreachable('no change fell into the second of its checkout');
  });

  it('of an untouched copy is an empty patch', async () => {
    const { receipt, remote } = await captureAfter(() => {});
    expect(receipt).toMatchObject({ bytes: 0, files: 0, partial: false });
    expect(receipt.tree).toBe(sh(remote, 'git', 'rev-parse', 'HEAD^{tree}'));
  });

  it('holds what the agent committed, on a branch or on a detached head', async () => {
    for (const where of [['-b', 'work'], ['--detach']]) {
      const { copy, receipt, tree } = await captureAfter((dir) => {
        sh(dir, 'git', 'checkout', '-q', ...where);
        put(dir, 'committed.txt', 'c\n');
        sh(dir, 'git', 'add', '-A');
        sh(dir, 'git', 'commit', '-q', '-m', 'mine');
        put(dir, 'after.txt', 'd\n');
      });
      expect(receipt.files).toBe(2);
      expect(tree).toBe(treeOf(copy.paths.work));
    }
  });

  it('is found by task and run, and its patch is read as a stream', async () => {
    const { place, receipt, copy } = await captureAfter((dir) => put(dir, 'n', 'n'));
    expect(await findReceipts(place, 'task0000001', 1)).toEqual([receipt]);
    expect(await findReceipts(place, 'task0000001', 2)).toEqual([]);
    expect(await buffer(openPatch(place, receipt))).toEqual(readFileSync(outboxPaths(place, copy.id).patch));
  });

  it('passes its named points in order', async () => {
    const seen: string[] = [];
    const place = await makePlace((name) => void seen.push(name));
    const copy = await makeCopy(place, makeRemote(base));
    await captureResult(place, copy, 'none');
    const create = ['create.locked', 'create.published', 'create.pinned', 'create.copied'];
    const steps = ['begin', 'added', 'streamed', 'synced', 'renamed', 'receipt'].map(
      (step) => `result.${step}`,
    );
    expect(seen).toEqual([...create, ...steps, 'captured']);
  });
});

it('a capture goes on where a dead one stopped', async () => {
  let deadAt: string | null = null;
  const place = await makePlace((name) => {
    if (name === deadAt) throw new Error('dead');
  });
  for (const point of ['begin', 'added', 'streamed', 'synced', 'renamed', 'receipt'].map(
    (step) => `result.${step}`,
  )) {
    const remote = makeRemote(base);
    const copy = await makeCopy(place, remote);
    put(copy.paths.work, 'n.txt', 'new\n');
    deadAt = point;
    await expect(captureResult(place, copy, 'none')).rejects.toThrow('dead');
    deadAt = null;
    for (const index of ['index.capture.lock', 'index.verify.lock']) put(copy.paths.ctl, index, '');
    const receipt = await captureResult(place, copy, 'none');
    expect(await applied(place, remote, copy)).toBe(receipt.tree);
  }
});

it('a patch that does not give the work back is not a capture', async () => {
  let temporary = '';
  const place = await makePlace((name) => {
    if (name === 'result.synced')
      writeFileSync(temporary, readFileSync(temporary, 'utf8').replace('+new', '+old'));
  });
  const copy = await makeCopy(place, makeRemote(base));
  temporary = outboxPaths(place, copy.id).temporary;
  put(copy.paths.work, 'n.txt', 'new\n');
  await expect(captureResult(place, copy, 'none')).rejects.toMatchObject({ code: 'capture_failed' });
  expect(existsSync(outboxPaths(place, copy.id).receipt)).toBe(false);
  expect(existsSync(outboxPaths(place, copy.id).patch)).toBe(false);
  expect(copy.record.state).toBe('ready');
});
