/**
 * Making a copy, with its lock, its record, its pin and everything durable, against `git clone --shared` alone of the
 * same mirror. Milliseconds; medians of rounds in turn.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchRow } from './row.ts';
import { sideBySide } from './side-by-side.ts';
import { openBenchPlace, plainGit, timed } from './work-place.ts';

const sizes = [
  { files: 100, rounds: 31, bound: 'ratio <= 1.6' },
  { files: 20_000, rounds: 7, bound: 'ratio <= 1.2' },
];

/** Measures `copy_create_100` and `copy_create_20000`. */
export async function benchCopyCreate(): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const { files, rounds, bound } of sizes) {
    const bench = await openBenchPlace(files);
    const ours = async () => {
      const start = performance.now();
      const copy = await bench.create();
      const ms = performance.now() - start;
      await bench.drop(copy);
      return ms;
    };
    const peer = async () => {
      const clone = join(bench.peerDir, 'clone');
      const branch = ['--branch', 'default', '-c', 'advice.detachedHead=false'];
      const ms = await timed(() =>
        plainGit('/', ['clone', '-q', '--shared', ...branch, bench.mirror, clone]),
      );
      await rm(clone, { recursive: true });
      return ms;
    };
    try {
      // Git clones branches; the mirror keeps its head elsewhere.
      plainGit(bench.mirror, ['update-ref', 'refs/heads/default', 'refs/lanekeeper-head/default']);
      await ours();
      await peer();
      rows.push(await sideBySide({ name: `copy_create_${files}`, unit: 'ms', bound }, rounds, ours, peer));
    } finally {
      await bench.close();
    }
  }
  return rows;
}
