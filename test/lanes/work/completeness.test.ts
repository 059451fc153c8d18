import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Receipt } from '../../../lanes/records/copies.ts';
import { untar } from '../../../lanes/work/capture/archive.ts';
import { captureResult } from '../../../lanes/work/capture.ts';
import type { Copy } from '../../../lanes/work/copy.ts';
import { archivePath, patchFile } from '../../../lanes/work/outbox.ts';
import { restoreBeside, restorePatch } from '../../../lanes/work/restore.ts';
import type { Workplace } from '../../../lanes/work/workplace.ts';
import { filesIn } from './checkout.ts';
import { makeCopy, makePlace, makeRemote, put, sh, temporaryFolder } from './support.ts';

const MB = 1024 * 1024;
const patient = { timeout: 180_000 };

interface Scene {
  readonly place: Workplace;
  readonly remote: string;
  readonly copy: Copy;
  readonly receipt: Receipt;
}

async function scene(base: Record<string, string | Buffer>, work: (dir: string) => void): Promise<Scene> {
  const place = await makePlace();
  const remote = makeRemote(base);
  const copy = await makeCopy(place, remote);
  work(copy.paths.work);
  return { place, remote, copy, receipt: await captureResult(place, copy, 'none') };
}

/** Captured, then put into a new copy: what lies there now. */
async function restored({ place, remote, copy, receipt }: Scene): Promise<string> {
  const next = await makeCopy(place, remote);
  if (receipt.bytes > 0) expect(await restorePatch(next, patchFile(place, copy.id))).toBe('applied');
  expect(await restoreBeside(place, next, receipt)).toEqual([]);
  return next.paths.work;
}

async function expectIdentical(from: Scene): Promise<void> {
  expect(filesIn(await restored(from))).toEqual(filesIn(from.copy.paths.work));
}

const base = {
  'keep.txt': 'same\n',
  'change.txt': 'one\ntwo\nthree\n',
  'remove.txt': 'going\n',
  'moved/rename.txt': 'moving, with enough text to be seen as a rename\n',
  'tool.sh': '#!/bin/sh\n',
  'image.bin': Buffer.from([0, 1, 2, 255, 254, 0, 10]),
  'becomes-link': 'x',
  'becomes-folder': 'x',
  'becomes-file/inside': 'x',
  'folder-to-link/inside': 'x',
  'Case.txt': 'case',
  'emptied.txt': 'x',
};

function changeEverything(dir: string): void {
  put(dir, 'new/deep/file.txt', 'new');
  put(dir, 'change.txt', 'one\r\n2\nthree');
  put(dir, 'empty', '');
  put(dir, 'emptied.txt', '');
  put(dir, 'crlf.txt', 'a\r\nb\r\n');
  put(dir, 'new-tool', '#!/bin/sh\n', 0o755);
  put(dir, 'tool.sh', '#!/bin/sh\n', 0o755);
  put(dir, 'image.bin', Buffer.from([9, 0, 255, 13, 10]));
  rmSync(join(dir, 'remove.txt'));
  renameSync(join(dir, 'moved'), join(dir, 'moved-away'));
  renameSync(join(dir, 'Case.txt'), join(dir, 'case.txt'));
  for (const path of ['becomes-link', 'becomes-folder', 'becomes-file', 'folder-to-link']) {
    rmSync(join(dir, path), { recursive: true });
  }
  symlinkSync('/etc/passwd', join(dir, 'becomes-link'));
  symlinkSync('/', join(dir, 'folder-to-link'));
  symlinkSync('nowhere', join(dir, 'dangling'));
  put(dir, 'becomes-folder/inside', 'y');
  put(dir, 'becomes-file', 'now a file');
  for (const name of ['a "b"\n\tc.txt', ':(exclude)x', '-rf', 'git~1', 'back\\slash', 'n'.repeat(255)]) {
    put(dir, name, name);
  }
  writeFileSync(Buffer.concat([Buffer.from(`${dir}/`), Buffer.from([0xff, 0xfe, 0x41])]), 'not UTF-8');
}

describe('a capture that is restored gives the same files, byte for byte', () => {
  it('of every kind of change', patient, async () => {
    const all = await scene(base, changeEverything);
    expect(all.receipt).toMatchObject({ partial: false, missing: [], blobs: [], archives: [] });
    await expectIdentical(all);
  });

  it(
    'where .gitattributes converts: what does not survive that is kept beside the patch',
    patient,
    async () => {
      const attributes =
        '*.txt text eol=crlf\n*.id ident\n*.wide working-tree-encoding=UTF-16LE\n*.x filter=lfs\n';
      const wide = (text: string) => Buffer.from(text, 'utf16le');
      const converting = { '.gitattributes': attributes, 'a.txt': 'one\ntwo\n', 'b.id': '$Id$\n' };
      const all = await scene({ ...converting, 'c.wide': wide('hello\n'), 'd.x': 'x' }, (dir) => {
        put(dir, 'a.txt', 'one\r\n2\r\n');
        put(dir, 'mixed.txt', 'one\r\ntwo\nthree\r\n');
        put(dir, 'b.id', '$Id: mine $\n');
        put(dir, 'c.wide', wide('hello you\n'));
        put(dir, 'd.x', 'y');
      });
      expect(all.receipt).toMatchObject({ partial: false, rawAttributes: false, files: 4 });
      expect(all.receipt.blobs.map(({ path }) => path).sort()).toEqual(['b.id', 'mixed.txt']);
      await expectIdentical(all);
    },
  );

  it('where the work itself brings the attributes', patient, async () => {
    const all = await scene({ 'a.txt': 'one\n' }, (dir) => {
      put(dir, '.gitattributes', '*.txt text eol=crlf\n');
      put(dir, 'b.txt', 'one\r\ntwo\r\n');
    });
    expect(all.receipt).toMatchObject({ partial: false, rawAttributes: false, blobs: [] });
    await expectIdentical(all);
  });

  it('where it brings attributes that do not fit', patient, async () => {
    const all = await scene({ 'a.txt': 'one\n' }, (dir) => {
      put(dir, '.gitattributes', '*.txt text eol=crlf\n*.wide working-tree-encoding=UTF-16\n');
      put(dir, 'b.txt', 'one\r\ntwo\r\n');
      put(dir, 'wrong.wide', Buffer.from('odd'));
    });
    expect(all.receipt).toMatchObject({ partial: false, rawAttributes: true });
    await expectIdentical(all);
  });

  it('of files too large for a patch, and of one that was replaced', patient, async () => {
    const before = Buffer.alloc(51 * MB, 'a');
    const all = await scene({ 'was-large.bin': before, 'large.bin': before, 'small.txt': 's' }, (dir) => {
      put(dir, 'was-large.bin', 'small now');
      put(dir, 'large.bin', Buffer.alloc(52 * MB, 'b'), 0o755);
      put(dir, 'in/new-large.bin', Buffer.alloc(51 * MB, 'c'));
      put(dir, 'small.txt', 'changed');
    });
    expect(all.receipt.blobs.map(({ path, mode }) => [path, mode]).sort()).toEqual([
      ['in/new-large.bin', '100644'],
      ['large.bin', '100755'],
    ]);
    expect(all.receipt.missing.map(({ why }) => why)).toEqual(['too_big', 'too_big']);
    await expectIdentical(all);
  });

  it(
    'of repositories inside the copy, whole or broken, and of what is called like one',
    patient,
    async () => {
      const all = await scene({ 'tracked/file': 'x' }, (dir) => {
        for (const name of ['inner', 'inner/below', 'unborn', 'tracked']) {
          mkdirSync(join(dir, name), { recursive: true });
          sh(join(dir, name), 'git', 'init', '-q', '.');
          put(dir, `${name}/new`, name);
        }
        sh(join(dir, 'inner'), 'git', 'add', 'new');
        sh(join(dir, 'inner'), 'git', 'commit', '-q', '-m', 'x');
        put(dir, 'fixture/.git/HEAD', 'no repository');
        put(dir, 'fixture/file', 'beside it');
        put(dir, 'pointer/.git', 'gitdir: /nowhere\n');
        put(dir, 'pointer/file', 'beside it');
        put(dir, '.GIT/x', 'a folder like any other');
      });
      const kept = all.receipt.archives.map(({ path }) => path);
      expect(kept).toEqual(['.GIT', 'fixture/.git', 'inner/', 'pointer/.git', 'tracked/.git', 'unborn/']);
      expect(all.receipt.missing.map(({ path }) => path)).toEqual(kept);
      await expectIdentical(all);
    },
  );
});

describe("what only the copy's own git knows", () => {
  it(
    'is kept as an archive: stash, reset, other branches; the patch is what the files are',
    patient,
    async () => {
      const all = await scene({ 'a.txt': 'a\n' }, (dir) => {
        const commit = (file: string) => {
          put(dir, file, file);
          sh(dir, 'git', 'add', '-A');
          sh(dir, 'git', 'commit', '-q', '-m', file);
        };
        sh(dir, 'git', 'checkout', '-q', '-b', 'other');
        commit('on-other');
        sh(dir, 'git', 'checkout', '-q', 'trunk');
        commit('reset-away');
        sh(dir, 'git', 'reset', '-q', '--hard', 'HEAD~1');
        put(dir, 'a.txt', 'stashed\n');
        sh(dir, 'git', 'stash');
        sh(dir, 'git', 'checkout', '-q', '--detach');
        commit('on-detached');
      });
      expect(all.receipt).toMatchObject({
        files: 1,
        partial: false,
        archives: [{ path: '.git', kind: 'git_state' }],
      });
      await expectIdentical(all);
      const room = temporaryFolder();
      sh(room, 'git', 'clone', '-q', all.remote, 'clone');
      const [archive] = all.receipt.archives;
      await untar(archivePath(all.place, all.copy.id, 'result', archive?.sha256 ?? ''), join(room, 'clone'));
      const clone = join(room, 'clone');
      expect(sh(clone, 'git', 'show', 'stash@{0}:a.txt')).toBe('stashed');
      expect(sh(clone, 'git', 'show', 'other:on-other')).toBe('on-other');
      expect(sh(clone, 'git', 'log', '-g', '--format=%s', 'HEAD')).toContain('reset-away');
    },
  );

  it('of an agent that used git for reading only is nothing', patient, async () => {
    const { receipt } = await scene({ 'a.txt': 'a\n' }, (dir) => sh(dir, 'git', 'status'));
    expect(receipt).toMatchObject({ archives: [], bytes: 0, partial: false });
  });
});

describe('a large file', () => {
  it(
    'of three sparse gigabytes takes neither memory nor disk; one of terabytes stays in the copy',
    patient,
    async () => {
      const all = await scene({ 'a.txt': 'a' }, (dir) => {
        sh(dir, 'truncate', '-s', '3G', 'sparse.img');
        sh(dir, 'truncate', '-s', '5T', 'endless.img');
      });
      expect(all.receipt.blobs).toMatchObject([{ path: 'sparse.img', bytes: 3 * 1024 * MB }]);
      const missing = all.receipt.missing.map(({ path }) => path);
      expect(missing).toEqual(['endless.img', 'sparse.img']);
      const blob = join(all.place.outboxDir, `${all.copy.id}.result.${all.receipt.blobs[0]?.object}.blob`);
      expect(statSync(blob).blocks * 512).toBeLessThan(MB);
      expect(readFileSync(patchFile(all.place, all.copy.id)).length).toBe(0);
    },
  );

  it('that is one of many does not make the patch larger than git applies', patient, async () => {
    const { receipt } = await scene({ 'a.txt': 'a' }, (dir) => {
      for (let n = 0; n < 9; n += 1) sh(dir, 'truncate', '-s', '49M', `${n}.img`);
    });
    expect(receipt).toMatchObject({ files: 8, blobs: [{ bytes: 49 * MB }] });
  });

  it('that ignore rules name is counted, not kept', patient, async () => {
    const { receipt } = await scene({ '.gitignore': '*.img\n/built\n' }, (dir) => {
      sh(dir, 'truncate', '-s', '60M', 'a.img');
      mkdirSync(join(dir, 'built'));
      sh(join(dir, 'built'), 'git', 'init', '-q', '.');
      sh(join(dir, 'built'), 'mkfifo', 'pipe');
    });
    expect(receipt).toMatchObject({ ignored: 2, blobs: [], archives: [], partial: false });
  });
});

it('what lies beside a patch is put nowhere but into the copy', patient, async () => {
  const outside = temporaryFolder();
  const all = await scene({ 'a.txt': 'a' }, (dir) => {
    sh(dir, 'truncate', '-s', '51M', 'sparse.img');
    mkdirSync(join(dir, 'folder/inner'), { recursive: true });
    sh(join(dir, 'folder/inner'), 'git', 'init', '-q', '.');
    put(dir, 'folder/inner/file', 'f');
  });
  const next = await makeCopy(all.place, all.remote);
  symlinkSync(outside, join(next.paths.work, 'folder'));
  const blob = (path: string) => ({ ...all.receipt.blobs[0], path });
  const paths = ['../out', 'folder/out', '/out', '.git/hooks/pre-commit', 'a/../../out', 'good/in'];
  const blobs = paths.map(blob) as Receipt['blobs'];
  const failed = await restoreBeside(all.place, next, { ...all.receipt, blobs });
  expect(failed).toEqual([...paths.slice(0, -1), 'folder/inner/']);
  expect(readdirSync(outside)).toEqual([]);
  expect(statSync(join(next.paths.work, 'good/in')).size).toBe(51 * MB);
});
