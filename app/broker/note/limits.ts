/** How much a note shows. When it does not fit, the details go first, then words in the table, then rows. */

export interface Limits {
  /** Characters of the agent's summary, and of a failure's output, in the folded details. */
  readonly summary: number;
  readonly output: number;
  /** Lines of the folded details. */
  readonly lines: number;
  /** Characters of a question or an answer. */
  readonly question: number;
  /** Characters of a criterion's text, and of a reason. */
  readonly cell: number;
  readonly reason: number;
  readonly rows: number;
  /** Criteria whose evidence is listed, and pieces of evidence for each. */
  readonly evidenceRows: number;
  readonly evidencePieces: number;
}

/** From the full note to the smallest one. */
export const limitLevels: readonly [Limits, ...Limits[]] = [
  {
    summary: 12_000,
    output: 6_000,
    lines: 30,
    question: 10_000,
    cell: 240,
    reason: 200,
    rows: 500,
    evidenceRows: 200,
    evidencePieces: 6,
  },
  {
    summary: 3_000,
    output: 2_000,
    lines: 10,
    question: 6_000,
    cell: 240,
    reason: 200,
    rows: 500,
    evidenceRows: 200,
    evidencePieces: 3,
  },
  {
    summary: 0,
    output: 0,
    lines: 0,
    question: 3_000,
    cell: 120,
    reason: 80,
    rows: 300,
    evidenceRows: 60,
    evidencePieces: 2,
  },
  {
    summary: 0,
    output: 0,
    lines: 0,
    question: 2_000,
    cell: 60,
    reason: 0,
    rows: 200,
    evidenceRows: 0,
    evidencePieces: 0,
  },
  {
    summary: 0,
    output: 0,
    lines: 0,
    question: 1_000,
    cell: 24,
    reason: 0,
    rows: 100,
    evidenceRows: 0,
    evidencePieces: 0,
  },
];
