/**
 * A whole capture, durable and verified, against the bare git commands that it consists of, as a person would type them:
 * add, write-tree, diff-tree, read-tree, apply --cached, write-tree. Both look at the same changed copy. Milliseconds;
 * medians of rounds in turn.
 */
import { copyFile, open, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { captureResult } from '../../lanes/work/capture.ts';
import type { Copy } from '../../lanes/work/copy.ts';
import type { BenchRow } from './row.ts';
import { sideBySide } from './side-by-side.ts';
import { fileName, openBenchPlace, plainGit, timed } from './work-place.ts';

const sizes = [
  { changed: 1, files: 100, rounds: 31 },
  { changed: 100, files: 200, rounds: 21 },
  { changed: 10_000, files: 10_000, rounds: 5 },
];

/** Measures `capture_1`, `capture_100` and `capture_10000`. */
export async function benchCapture(): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const { changed, files, rounds } of sizes) {
    const bench = await openBenchPlace(files);
    try {
      const copy = await bench.create();
      await change(copy, changed);
      const round = async (side: () => Promise<unknown>) => {
        await forget(copy);
        return await timed(side);
      };
      const ours = () => round(() => captureResult(bench.place, copy, 'none'));
      const peer = () => round(() => bare(copy));
      await ours();
      await peer();
      const row = { name: `capture_${changed}`, unit: 'ms', bound: 'ratio <= 1.3' };
      rows.push(await sideBySide(row, rounds, ours, peer));
      await copy.lock.release();
    } finally {
      await bench.close();
    }
  }
  return rows;
}

async function change(copy: Copy, count: number): Promise<void> {
  // Older than the index, so that neither side reads unchanged files again because they are as young as it.
  const aMinuteAgo = Date.now() / 1_000 - 60;
  for (let n = 0; n < count; n += 1) {
    await writeFile(join(copy.paths.work, fileName(n)), `changed ${n}\n`.repeat(80));
    await utimes(join(copy.paths.work, fileName(n)), aMinuteAgo, aMinuteAgo);
  }
}

/** Each round writes all its objects: what the one before wrote goes. */
async function forget(copy: Copy): Promise<void> {
  const objects = join(copy.paths.capGit, 'objects');
  for (const name of await readdir(objects)) {
    if (name !== 'info' && name !== 'pack') await rm(join(objects, name), { recursive: true });
  }
  for (const index of ['index.a', 'index.b']) await rm(join(copy.paths.ctl, index), { force: true });
}

async function bare(copy: Copy): Promise<void> {
  const { work, ctl, capGit, indexBase } = copy.paths;
  const [index, fresh, patch] = [join(ctl, 'index.a'), join(ctl, 'index.b'), join(ctl, 'patch')];
  const run = (file: string, args: string[], stdoutFd?: number) =>
    plainGit(work, args, { GIT_DIR: capGit, GIT_WORK_TREE: work, GIT_INDEX_FILE: file }, stdoutFd);
  await copyFile(indexBase, index);
  run(index, ['add', '-A', '--ignore-errors', '--', '.']);
  const tree = run(index, ['write-tree']);
  const flags = ['-r', '-p', '--binary', '--full-index', '--no-ext-diff', '--no-textconv', '--no-renames'];
  const file = await open(patch, 'wx');
  run(index, ['diff-tree', ...flags, copy.record.base, tree], file.fd);
  await file.close();
  run(fresh, ['read-tree', copy.record.base]);
  run(fresh, ['apply', '--cached', '--binary', '--whitespace=nowarn', patch]);
  if (run(fresh, ['write-tree']) !== tree) throw new Error('the bare sequence did not give its tree back');
  await rm(patch);
}
