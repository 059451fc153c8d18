export interface BenchRow {
  name: string;
  ours: number;
  peer: number | null;
  unit: string;
  ratio: number | null;
  bound: string;
}
