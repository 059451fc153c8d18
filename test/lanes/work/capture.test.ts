import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it, vi } from 'vitest';
import { captureResult } from '../../../lanes/work/capture.ts';
import type { Copy } from '../../../lanes/work/copy.ts';
import { findReceipts, openPatch, outboxPaths } from '../../../lanes/work/outbox.ts';
import type { Workplace } from '../../../lanes/work/workplace.ts';
import { makeCopy, makePlace, makeRemote, put, sh, temporaryFolder } from './support.ts';

const base = {
  'keep.txt': 'same\n',
  'change.txt': 'one\ntwo\nthree\n',
  'remove.txt': 'going\n',
  'rename.txt': 'moving, with enough text to be seen as a rename\n',
  'tool.sh': '#!/bin/sh\n',
  'image.bin': Buffer.from([0, 1, 2, 255, 254, 0, 10]),
  'link-me': 'x',
};

/** What a person gets who applies the patch to the base with plain git. */
async function applied(place: Workplace, remote: string, copy: Copy): Promise<string> {
  const clone = join(temporaryFolder(), 'clone');
  sh('/', 'git', 'clone', '-q', remote, clone);
  const patch = outboxPaths(place, copy.id).patch;
  if (readFileSync(patch).length > 0) sh(clone, 'git', 'apply', '--index', '--whitespace=nowarn', patch);
  return sh(clone, 'git', 'write-tree');
}

async function captureAfter(work: (dir: string) => void, files: Record<string, string | Buffer> = base) {
  const place = await makePlace();
  const remote = makeRemote(files);
  const copy = await makeCopy(place, remote);
  work(copy.paths.work);
  const receipt = await captureResult(place, copy, 'none');
  return { place, remote, copy, receipt, tree: await applied(place, remote, copy) };
}

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
      await vi.waitUntil(() => Math.floor(Date.now() / 1_000) > checkedOut, { timeout: 2_000 });
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

  it('counts ignored files, and does not let the agent hide tracked ones', async () => {
    const { receipt } = await captureAfter((dir) => {
      put(dir, '.gitignore', '*\n');
      put(dir, 'hidden.txt', 'h');
      put(dir, 'change.txt', 'changed');
    });
    expect(receipt.ignored).toBe(2);
    expect(receipt.files).toBe(1);
  });

  it('takes the bytes as they are where .gitattributes names an encoding that a file does not have', async () => {
    const { receipt, tree } = await captureAfter((dir) => {
      put(dir, '.gitattributes', '*.txt working-tree-encoding=UTF-16\n');
      put(dir, 'wrong.txt', Buffer.from('odd'));
    });
    expect(receipt).toMatchObject({ rawAttributes: true, partial: false });
    expect(receipt.files).toBeGreaterThanOrEqual(2);
    expect(tree).toBe(receipt.tree);
  });

  it('converts by the attributes of the repository where they fit', async () => {
    const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('hello\n', 'utf16le')]);
    const { receipt, copy } = await captureAfter((dir) => put(dir, 'other.wide', utf16), {
      '.gitattributes': '*.wide working-tree-encoding=UTF-16\n',
    });
    expect(receipt).toMatchObject({ rawAttributes: false, partial: false, files: 1 });
    expect(sh(copy.paths.work, 'git', 'diff', '--stat')).toBe('');
  });

  it('keeps submodule entries without looking into them', async () => {
    const remote = makeRemote(base);
    sh(remote, 'git', 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},sub`);
    sh(remote, 'git', 'commit', '-q', '-m', 'submodule');
    const place = await makePlace();
    const copy = await makeCopy(place, remote);
    put(copy.paths.work, 'new.txt', 'n');
    const receipt = await captureResult(place, copy, 'none');
    expect(receipt).toMatchObject({ files: 1, partial: false });
    expect(await applied(place, remote, copy)).toBe(receipt.tree);
  });

  it('says that a repository inside the copy is in no patch', async () => {
    const { receipt } = await captureAfter((dir) => {
      mkdirSync(join(dir, 'inner'));
      sh(join(dir, 'inner'), 'git', 'init', '-q', '.');
      put(dir, 'inner/a', 'a');
      sh(join(dir, 'inner'), 'git', 'add', '-A');
      sh(join(dir, 'inner'), 'git', 'commit', '-q', '-m', 'x');
    });
    expect(receipt).toMatchObject({
      partial: true,
      missing: [{ path: 'inner/', why: 'embedded_repository' }],
      files: 0,
    });
  });

  it('says that a tracked file replaced by a FIFO could not be read, and does not hang', async () => {
    const { receipt } = await captureAfter((dir) => {
      rmSync(join(dir, 'change.txt'));
      sh(dir, 'mkfifo', 'change.txt');
      put(dir, 'new.txt', 'n');
    });
    expect(receipt).toMatchObject({
      partial: true,
      missing: [{ path: 'change.txt', why: 'not_readable' }],
      files: 1,
    });
  });

  it('keeps a file over 50 MB beside the patch', async () => {
    const content = Buffer.alloc(50 * 1024 * 1024 + 1, 'b');
    const { place, copy, receipt } = await captureAfter((dir) => {
      put(dir, 'big.bin', content);
      put(dir, 'small.txt', 's');
    });
    expect(receipt).toMatchObject({
      partial: true,
      missing: [{ path: 'big.bin', why: 'too_big' }],
      files: 1,
    });
    const [blob] = receipt.blobs;
    expect(blob).toMatchObject({ path: 'big.bin', mode: '100644', bytes: content.length });
    const kept = readFileSync(join(place.outboxDir, `${copy.id}.result.${blob?.object}.blob`));
    expect(kept.equals(content)).toBe(true);
  });

  it('of a copy that the agent emptied says so', async () => {
    const { receipt, tree } = await captureAfter((dir) => sh(dir, 'sh', '-c', 'rm -rf ./* ./.git*'));
    expect(receipt).toMatchObject({ emptied: true, partial: false, files: 7 });
    expect(tree).toBe(receipt.tree);
  });

  it('of a copy that the agent removed changes nothing and is partial', async () => {
    const { receipt } = await captureAfter((dir) => rmSync(dir, { recursive: true }));
    expect(receipt).toMatchObject({ partial: true, missing: [{ path: '.', why: 'copy_removed' }], bytes: 0 });
  });

  it('does not follow a symbolic link that took the place of the copy', async () => {
    const elsewhere = temporaryFolder();
    put(elsewhere, 'private.txt', 'p');
    const { receipt } = await captureAfter((dir) => {
      rmSync(dir, { recursive: true });
      symlinkSync(elsewhere, dir);
    });
    expect(receipt).toMatchObject({ missing: [{ path: '.', why: 'copy_removed' }], bytes: 0 });
    expect(existsSync(join(elsewhere, 'private.txt'))).toBe(true);
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

describe("the agent's own git configuration", () => {
  it('never runs as us: hooks, fsmonitor, filters and a submodule stay silent', async () => {
    const canary = join(temporaryFolder(), 'canary');
    const remote = makeRemote(base);
    // Git looks into a submodule only where its head is the one that the index names.
    const library = makeRemote({ f: 'f', '.gitattributes': '* filter=x diff=x\n' });
    const head = sh(library, 'git', 'rev-parse', 'HEAD');
    sh(remote, 'git', 'update-index', '--add', '--cacheinfo', `160000,${head},sub`);
    sh(remote, 'git', 'commit', '-q', '-m', 'submodule');
    const place = await makePlace();
    const copy = await makeCopy(place, remote);
    const dir = copy.paths.work;
    const run = `touch ${canary}; cat`;
    put(dir, 'evil.sh', `#!/bin/sh\n${run}\n`, 0o755);
    const hook = join(dir, 'evil.sh');
    for (const repository of ['inner', 'sub']) {
      cpSync(library, join(dir, repository), { recursive: true });
      put(dir, `${repository}/f`, 'changed');
    }
    put(dir, '.gitattributes', '* filter=x diff=x\n');
    put(dir, 'change.txt', 'changed\n');
    for (const name of ['post-checkout', 'pre-commit', 'post-index-change', 'fsmonitor-watchman']) {
      put(dir, `.git/hooks/${name}`, `#!/bin/sh\n${run}\n`, 0o755);
    }
    for (const git of ['.git', 'inner/.git', 'sub/.git']) {
      const config = readFileSync(join(dir, git, 'config'), 'utf8');
      const core = `[core]\n\tfsmonitor = ${hook}\n\thooksPath = ${join(dir, '.git/hooks')}\n`;
      const filter = `[filter "x"]\n\tclean = "${run}"\n\tsmudge = "${run}"\n`;
      put(
        dir,
        `${git}/config`,
        `${config}${core}${filter}[diff "x"]\n\ttextconv = ${hook}\n\tcommand = ${hook}\n`,
      );
    }
    const receipt = await captureResult(place, copy, 'none');
    expect(existsSync(canary)).toBe(false);
    expect(receipt.files).toBe(3);
    const missing = receipt.missing.map(({ path }) => path);
    expect(missing.sort()).toEqual(['inner/', 'sub/']);
    // The trap is real: the agent's own git, in the copy, springs it.
    sh(dir, 'git', 'status');
    expect(existsSync(canary)).toBe(true);
  });
});
