/** From what an agent says over MCP to the end of its run. Nobody here has looked at its evidence: it is asserted. */
import {
  type AgentResult,
  boundNotices,
  type ClaimAnswer,
  judge,
  type PatchRef,
  type RunEnd,
} from '../../../lanes/index.ts';

const how = 'said by the agent; no host has looked';

/** The end of a run by its agent's own words. */
export function endOf(
  { input, run }: Pick<ClaimAnswer, 'input' | 'run'>,
  result: AgentResult,
  patch: PatchRef | undefined,
  nowMs: number,
): RunEnd {
  const verdicts = result.dispositions.map((said) => ({
    said,
    evidence: said.evidence.map((evidence) => ({ evidence, standing: 'asserted' as const, how })),
  }));
  const judgement = judge({ verdicts, criteria: input.criteria, run, nowMs });
  const question = result.question?.trim() ?? '';
  const asks = result.outcome === 'needs_person' && question !== '';
  return {
    kind: 'result',
    outcome: result.outcome,
    summary: result.summary,
    ...(asks ? { question } : {}),
    dispositions: judgement.dispositions,
    proposals: judgement.proposals,
    notices: boundNotices(judgement.notices),
    ...(patch === undefined ? {} : { patch }),
  };
}
