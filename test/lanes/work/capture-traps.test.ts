import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { captureResult } from '../../../lanes/work/capture.ts';
import { applied, base, captureAfter } from './capture-support.ts';
import { makeCopy, makePlace, makeRemote, put, sh, temporaryFolder } from './support.ts';

describe('a capture', () => {
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

  it('says that a repository inside the copy is in no patch, and keeps it as an archive', async () => {
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
      archives: [{ path: 'inner/', kind: 'embedded_repository' }],
      files: 0,
    });
  });

  it('says that a tracked file was replaced by a FIFO, and does not hang', async () => {
    const { receipt } = await captureAfter((dir) => {
      rmSync(join(dir, 'change.txt'));
      sh(dir, 'mkfifo', 'change.txt');
      put(dir, 'new.txt', 'n');
    });
    expect(receipt).toMatchObject({
      partial: true,
      missing: [{ path: 'change.txt', why: 'special_file' }],
      files: 1,
    });
  });

  it('says that a folder deeper than a path can name could not be read', async () => {
    const dig =
      'for (let n = 0; n < 600; n += 1) { fs.mkdirSync("deep-deep-deep"); process.chdir("deep-deep-deep"); }';
    const { receipt, copy } = await captureAfter((dir) => {
      sh(dir, process.execPath, '-e', `${dig} fs.writeFileSync("bottom", "x")`);
    });
    sh(copy.paths.work, 'rm', '-rf', 'deep-deep-deep');
    expect(receipt).toMatchObject({ partial: true, files: 0 });
    expect(receipt.missing[0]).toMatchObject({ why: 'not_readable' });
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
