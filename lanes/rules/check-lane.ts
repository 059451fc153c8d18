/**
 * A lane without an agent: its checks are run, and they alone speak. It claims `met` for every criterion that a check
 * is mapped to, has the claims weighed like an agent's, and takes back what did not hold.
 */
import type { Lane } from '../records/config.ts';
import type { Criterion } from '../records/criteria.ts';
import type { AgentDisposition, AgentResult } from '../records/result.ts';
import type { RunEnd } from '../records/runs.ts';
import type { WeighedVerdict } from './dispositions.ts';
import type { ProofMap } from './proof.ts';
import { clip } from './text.ts';

/** The end of a run in which there is nothing to check, saying what to set up; null where there is something. */
export function nothingToCheck(
  lane: Pick<Lane, 'name' | 'checks'>,
  criteria: readonly Criterion[],
  map: ProofMap,
): Extract<RunEnd, { kind: 'unable' }> | null {
  if ([...map.values()].some((names) => names.length > 0)) return null;
  const names = Object.keys(lane.checks);
  const found = criteria.length === 1 ? '1 criterion was found' : `${criteria.length} criteria were found`;
  const detail =
    names.length === 0
      ? `${found}. Lane ${lane.name} runs checks, and has none: add one under its \`checks\` in lanekeeper.yml.`
      : `${found}. No check of lane ${lane.name} (${names.join(', ')}) is mapped to one of them: name it under ` +
        "that check's `proves`, in lanekeeper.yml or in .github/lanes.yml.";
  return { kind: 'unable', reason: 'nothing_to_check', detail: clip(detail, 2_000) };
}

/** One claim for each criterion that a check is mapped to, on all of its checks. */
export function claimChecked(map: ProofMap): AgentResult {
  const dispositions = [...map].flatMap(([criterion, names]): AgentDisposition[] => {
    if (names.length === 0) return [];
    const evidence = names.slice(0, 50).map((name) => ({ kind: 'check' as const, name }));
    return [{ criterion, disposition: 'met', evidence }];
  });
  const open = map.size - dispositions.length;
  const rest = open === 0 ? '' : ` No check is mapped to the other ${open}: a person has to judge them.`;
  const summary = `Checks are mapped to ${dispositions.length} of ${map.size} criteria, and were run.${rest}`;
  return { outcome: 'done', summary, dispositions };
}

/** A claim stands only if every check of it passed; else the criterion is `not_met`, with what failed. */
export function takeBackFailed(verdicts: readonly WeighedVerdict[]): WeighedVerdict[] {
  return verdicts.map((verdict) => {
    const failed = verdict.evidence.filter(({ standing }) => standing !== 'verified');
    if (failed.length === 0) return verdict;
    const reason = failed
      .map(({ evidence, how }) => (evidence.kind === 'check' ? `${evidence.name}: ${how}` : how))
      .join('; ');
    return {
      said: { ...verdict.said, disposition: 'not_met', reason: clip(reason, 4_000) },
      evidence: verdict.evidence,
    };
  });
}
