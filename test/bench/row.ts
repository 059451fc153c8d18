/** One line of the benchmark: ours against a peer, measured side by side in one run. */
export type BenchRow = {
  name: string;
  ours: number;
  /** Null where there is nothing to compare with. */
  peer: number | null;
  unit: string;
  /** ours / peer. */
  ratio: number | null;
  /** What the ratio (or, without a peer, `ours`) must keep to, such as "<= 1.3". */
  bound: string;
};
