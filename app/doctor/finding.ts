/** What the doctor says of one thing that it looked at. */
export type Verdict = 'ok' | 'warn' | 'fail';

export interface Finding {
  /** What was looked at: a stable word. */
  readonly check: string;
  readonly verdict: Verdict;
  /** What was seen. It never holds a secret. */
  readonly evidence: string;
  /** What would be better, and how; null where nothing would. */
  readonly better: string | null;
}

/** All is well. */
export function ok(check: string, evidence: string, better: string | null = null): Finding {
  return { check, verdict: 'ok', evidence, better };
}

/** It works, with less safety than it could have, or cannot be told. */
export function warn(check: string, evidence: string, better: string): Finding {
  return { check, verdict: 'warn', evidence, better };
}

/** Lanekeeper cannot do its work like this. */
export function fail(check: string, evidence: string, better: string): Finding {
  return { check, verdict: 'fail', evidence, better };
}

/** The worst of them. */
export function worst(findings: readonly Finding[]): Verdict {
  const verdicts = findings.map(({ verdict }) => verdict);
  return (['fail', 'warn'] as const).find((one) => verdicts.includes(one)) ?? 'ok';
}
