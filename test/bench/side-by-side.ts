/** Two sides measured in turn, in one run: whatever the machine does meanwhile, it does to both. */
import type { BenchRow } from './row.ts';

/** Rates or times by round, ours and the peer's in turn, and the row of their medians. Warm both up before. */
export async function sideBySide(
  { name, unit, bound }: Pick<BenchRow, 'name' | 'unit' | 'bound'>,
  rounds: number,
  ourRound: () => Promise<number>,
  peerRound: () => Promise<number>,
): Promise<BenchRow> {
  const ours: number[] = [];
  const peers: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await ourRound());
    peers.push(await peerRound());
  }
  const [our, peer] = [median(ours), median(peers)];
  const ratio = Math.round((our / peer) * 1000) / 1000;
  return { name, ours: Math.round(our), peer: Math.round(peer), unit, ratio, bound };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
