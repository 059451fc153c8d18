import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyRecordSchema, tombstoneSchema } from '../../../lanes/records/copies.ts';
import { captureResult } from '../../../lanes/work/capture.ts';
import { markRunning } from '../../../lanes/work/copy.ts';
import { tryLock } from '../../../lanes/work/lock.ts';
import { mirrorPath } from '../../../lanes/work/mirror.ts';
import { outboxPaths } from '../../../lanes/work/outbox.ts';
import { removeCopy } from '../../../lanes/work/removal.ts';
import { restorePatch } from '../../../lanes/work/restore.ts';
import type { Workplace } from '../../../lanes/work/workplace.ts';
import { makeCopy, makePlace, makeRemote, put, sh, temporaryFolder } from './support.ts';

const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const pins = (place: Workplace) => sh(mirrorPath(place, 7), 'git', 'for-each-ref', 'refs/lanekeeper/');

function ledgerOf(place: Workplace): string[] {
  const folder = join(place.dataDir, 'ledger');
  const lines = readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8').trim().split('\n'),
  );
  return lines.map((line) => JSON.parse(line).event);
}

describe('a new copy', () => {
  it('is the base, on its branch, clean, locked, recorded and pinned', async () => {
    const place = await makePlace();
    const remote = makeRemote({ 'a.txt': 'a\n', 'dir/b': 'b' });
    const copy = await makeCopy(place, remote);
    const { work, ownerLock, record } = copy.paths;
    expect(sh(work, 'git', 'rev-parse', 'HEAD')).toBe(copy.record.base);
    expect(sh(work, 'git', 'branch', '--show-current')).toBe('trunk');
    expect(sh(work, 'git', 'status', '--porcelain')).toBe('');
    expect(await tryLock(ownerLock)).toBeNull();
    expect(copyRecordSchema.parse(read(record))).toMatchObject({ id: copy.id, state: 'ready', agent: null });
    expect(pins(place)).toContain(copy.record.base);
    expect(statSync(copy.paths.ctl).mode & 0o077).toBe(0);
    expect(ledgerOf(place)).toEqual(['copy_created']);
  });

  it.each([
    '-x',
    '--upload-pack=owned',
    '$(touch,owned);`id`',
    "it's-{{fine}}",
    'ветка/日本語/🚀',
    'HEAD',
    'a'.repeat(200),
  ])('of a default branch named %s is on that branch, and the name is a name only', async (branch) => {
    const remote = makeRemote({ 'a.txt': 'a\n' });
    sh(remote, 'git', 'update-ref', `refs/heads/${branch}`, 'HEAD');
    sh(remote, 'git', 'symbolic-ref', 'HEAD', `refs/heads/${branch}`);
    const { paths } = await makeCopy(await makePlace(), remote);
    expect(sh(paths.work, 'git', 'symbolic-ref', 'HEAD')).toBe(`refs/heads/${branch}`);
    expect(readdirSync(paths.work).sort()).toEqual(['.git', 'a.txt']);
  });

  it('is never visible without its owner', async () => {
    const place = await makePlace(async (name) => {
      if (name !== 'create.locked') return;
      expect(readdirSync(place.ctlDir).filter((entry) => !entry.startsWith('.new-'))).toEqual([]);
      const [hidden = ''] = readdirSync(place.ctlDir);
      expect(await tryLock(join(place.ctlDir, hidden, 'owner.lock'))).toBeNull();
      expect(read(join(place.ctlDir, hidden, 'record.json')).state).toBe('creating');
    });
    await makeCopy(place, makeRemote({ a: 'a' }));
  });

  it('shares nothing with the mirror that an agent could change through git', async () => {
    const place = await makePlace();
    const copy = await makeCopy(place, makeRemote({ a: 'a' }));
    const mirror = mirrorPath(place, 7);
    const state = () => sh(mirror, 'sh', '-c', 'find . -type f | sort | xargs sha256sum; git for-each-ref');
    const before = state();
    const { work } = copy.paths;
    put(work, 'new', 'n');
    for (const command of [
      ['add', '-A'],
      ['commit', '-q', '-m', 'x'],
      ['tag', 't'],
      ['branch', 'b'],
      ['gc', '-q'],
    ]) {
      sh(work, 'git', ...command);
    }
    sh(work, 'git', 'config', 'core.hooksPath', '/evil');
    expect(state()).toBe(before);
  });

  it('that cannot be made leaves nothing behind and frees its lock', async () => {
    const place = await makePlace((name) => {
      if (name === 'create.pinned') throw new Error('broken');
    });
    await expect(makeCopy(place, makeRemote({ a: 'a' }))).rejects.toThrow('broken');
    expect([readdirSync(place.ctlDir), readdirSync(place.workDir)]).toEqual([[], []]);
    expect(pins(place)).toBe('');
    expect(ledgerOf(place)).toEqual(['copy_abandoned']);
  });

  it('many at once from one mirror all succeed', async () => {
    const place = await makePlace();
    const remote = makeRemote({ a: 'a' });
    await makeCopy(place, remote);
    const copies = await Promise.all(Array.from({ length: 8 }, () => makeCopy(place, remote)));
    for (const copy of copies) expect(sh(copy.paths.work, 'git', 'status', '--porcelain')).toBe('');
  });

  it('records durably which process the agent is', async () => {
    const copy = await makeCopy(await makePlace(), makeRemote({ a: 'a' }));
    await markRunning(copy, { pid: 42, startTime: '1', cgroup: '', containment: 'bwrap' });
    expect(copyRecordSchema.parse(read(copy.paths.record))).toMatchObject({
      state: 'running',
      agent: { pid: 42 },
    });
  });

  it('of a repository with a path through a symbolic link stays in its folder', async () => {
    const outside = temporaryFolder();
    const remote = makeRemote({ a: 'a' });
    symlinkSync(outside, join(remote, 'out'));
    sh(remote, 'git', 'add', '-A');
    sh(remote, 'git', 'commit', '-q', '-m', 'link');
    const copy = await makeCopy(await makePlace(), remote);
    put(copy.paths.work, 'new', 'n');
    expect(readdirSync(outside)).toEqual([]);
  });
});

describe('restoring an earlier patch', () => {
  const files = { 'a.txt': 'one\ntwo\n', 'gone.txt': 'x\n', bin: Buffer.from([0, 1, 2]) };

  it('gives the files of the earlier run back, uncommitted', async () => {
    const place = await makePlace();
    const remote = makeRemote(files);
    const first = await makeCopy(place, remote);
    put(first.paths.work, 'a.txt', 'one\n2\n');
    put(first.paths.work, 'new/run.sh', '#!/bin/sh\n', 0o755);
    put(first.paths.work, 'bin', Buffer.from([0, 9]));
    rmSync(join(first.paths.work, 'gone.txt'));
    const before = await captureResult(place, first, 'none');
    const second = await makeCopy(place, remote);
    expect(await restorePatch(second, outboxPaths(place, first.id).patch)).toBe('applied');
    expect(sh(second.paths.work, 'git', 'status', '--porcelain').split('\n')).toHaveLength(4);
    expect((await captureResult(place, second, 'none')).tree).toBe(before.tree);
  });

  it('of a base that moved on says so and changes nothing', async () => {
    const place = await makePlace();
    const remote = makeRemote(files);
    const first = await makeCopy(place, remote);
    put(first.paths.work, 'a.txt', 'one\n2\n');
    put(first.paths.work, 'b.txt', 'b\n');
    await captureResult(place, first, 'none');
    put(remote, 'a.txt', 'all\nnew\n');
    sh(remote, 'git', 'commit', '-q', '-a', '-m', 'moved on');
    const second = await makeCopy(place, remote);
    expect(await restorePatch(second, outboxPaths(place, first.id).patch)).toBe('does_not_apply');
    expect(sh(second.paths.work, 'git', 'status', '--porcelain')).toBe('');
    expect(readdirSync(second.paths.ctl)).not.toContain('index.restore');
  });

  it('never writes outside the copy', async () => {
    const place = await makePlace();
    const outside = temporaryFolder();
    const remote = makeRemote({ a: 'a\n' });
    symlinkSync(outside, join(remote, 'out'));
    sh(remote, 'git', 'add', '-A');
    sh(remote, 'git', 'commit', '-q', '-m', 'link');
    const added = (path: string) =>
      `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+owned\n`;
    const link = `diff --git a/way b/way\nnew file mode 120000\n--- /dev/null\n+++ b/way\n@@ -0,0 +1 @@\n+${outside}\n\\ No newline at end of file\n`;
    const patches = [
      added('out/owned'),
      added('../owned'),
      added('.git/hooks/owned'),
      `${link}${added('way/owned')}`,
    ];
    for (const [index, patch] of patches.entries()) {
      const copy = await makeCopy(place, remote);
      const file = join(place.dataDir, `hostile-${index}`);
      writeFileSync(file, patch);
      expect(await restorePatch(copy, file)).toBe('does_not_apply');
      expect(existsSync(join(copy.paths.work, '.git', 'hooks', 'owned'))).toBe(false);
      expect(existsSync(join(place.workDir, 'owned'))).toBe(false);
    }
    expect(readdirSync(outside)).toEqual([]);
  });
});

describe('the normal ending', () => {
  it('removes a captured copy, leaves a tombstone and the patch, and frees the lock', async () => {
    const seen: string[] = [];
    const place = await makePlace((name) => void seen.push(name));
    const copy = await makeCopy(place, makeRemote({ a: 'a' }));
    put(copy.paths.work, 'new', 'n');
    const receipt = await captureResult(place, copy, 'none');
    const removal = await removeCopy(place, copy.lock, copy);
    expect(removal.kind).toBe('removed');
    const tombstone = tombstoneSchema.parse(read(join(place.tombstonesDir, `${copy.id}.json`)));
    expect(tombstone).toMatchObject({ phase: 'done', reason: 'completed', priorState: 'captured' });
    expect(tombstone).toMatchObject({ reapers: [place.owner], receipt: { sha256: receipt.sha256 } });
    for (const folder of [place.ctlDir, place.workDir, place.graveDir])
      expect(readdirSync(folder)).toEqual([]);
    expect(pins(place)).toBe('');
    expect(existsSync(outboxPaths(place, copy.id).patch)).toBe(true);
    expect(copy.lock.held).toBe(false);
    expect(ledgerOf(place)).toEqual(['copy_created', 'captured', 'removed']);
    expect(seen.slice(-4)).toEqual(['rm.tombstoned', 'rm.renamed', 'rm.deleted', 'rm.unpinned']);
  });

  it('says durably what it is about to do before anything is gone', async () => {
    const place = await makePlace((name) => {
      if (name !== 'rm.tombstoned') return;
      const [id = ''] = readdirSync(place.workDir);
      expect(read(join(place.tombstonesDir, `${id}.json`))).toMatchObject({ phase: 'intent', doneAt: null });
      expect(read(join(place.ctlDir, id, 'record.json')).state).toBe('deleting');
    });
    const copy = await makeCopy(place, makeRemote({ a: 'a' }));
    await captureResult(place, copy, 'none');
    expect((await removeCopy(place, copy.lock, copy)).kind).toBe('removed');
  });

  it('is refused without a receipt, without the patch, and without the lock', async () => {
    const place = await makePlace();
    const copy = await makeCopy(place, makeRemote({ a: 'a' }));
    put(copy.paths.work, 'unsaved', 'u');
    expect(await removeCopy(place, copy.lock, copy)).toEqual({ kind: 'kept', why: 'nothing was captured' });
    await captureResult(place, copy, 'none');
    const { patch } = outboxPaths(place, copy.id);
    const saved = readFileSync(patch);
    rmSync(patch);
    expect((await removeCopy(place, copy.lock, copy)).kind).toBe('kept');
    writeFileSync(patch, saved);
    const other = await makeCopy(place, makeRemote({ a: 'a' }));
    await expect(removeCopy(place, other.lock, copy)).rejects.toMatchObject({ code: 'copy_failed' });
    await copy.lock.release();
    await expect(removeCopy(place, copy.lock, copy)).rejects.toMatchObject({ code: 'copy_failed' });
    expect(existsSync(join(copy.paths.work, 'unsaved'))).toBe(true);
    expect(readdirSync(place.tombstonesDir)).toEqual([]);
  });

  it('keeps a copy with work that no patch has', async () => {
    const place = await makePlace();
    const copy = await makeCopy(place, makeRemote({ a: 'a' }));
    // Git takes no link of this name.
    symlinkSync('elsewhere', join(copy.paths.work, '.gitmodules'));
    await captureResult(place, copy, 'none');
    expect(await removeCopy(place, copy.lock, copy)).toMatchObject({ kind: 'kept' });
    expect(lstatSync(join(copy.paths.work, '.gitmodules')).isSymbolicLink()).toBe(true);
    expect(ledgerOf(place).at(-1)).toBe('removal_refused');
  });

  it('of a copy that the agent removed or replaced by a link touches nothing else', async () => {
    const place = await makePlace();
    const outside = temporaryFolder();
    put(outside, 'private', 'p');
    for (const replace of [false, true]) {
      const copy = await makeCopy(place, makeRemote({ a: 'a' }));
      rmSync(copy.paths.work, { recursive: true });
      if (replace) symlinkSync(outside, copy.paths.work);
      await captureResult(place, copy, 'none');
      expect((await removeCopy(place, copy.lock, copy)).kind).toBe('removed');
    }
    expect(readdirSync(outside)).toEqual(['private']);
    expect(readdirSync(place.workDir)).toEqual([]);
  });
});
