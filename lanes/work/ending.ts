/** From what a run left behind to the end that is recorded. */
import type { Lane } from '../records/config.ts';
import type { Receipt } from '../records/copies.ts';
import type { AgentResult } from '../records/result.ts';
import type { Death, PatchRef, RunEnd } from '../records/runs.ts';
import { boundNotices, type Judgement } from '../rules/dispositions.ts';
import { clipStart, hideSecrets, mapStrings } from '../rules/text.ts';
import { handedSecrets } from './environment.ts';
import type { TreeEnding } from './process-tree.ts';
import { readResult } from './result.ts';
import type { ProgramEnd } from './run-contained.ts';
import type { RunRoom } from './run-room.ts';

const tailCharacters = 8_000;

/** A run succeeds only with exit 0 and a valid result; an exit code alone proves nothing. */
export async function endOfAgent(
  room: Pick<RunRoom, 'lane' | 'deps'>,
  end: ProgramEnd,
  resultFile: string,
): Promise<AgentResult | Extract<RunEnd, { kind: 'died' }>> {
  const { lane, deps } = room;
  const names = lane.agent.kind === 'command' ? lane.agent.env : [];
  const secrets = handedSecrets(deps.worker, names);
  const tail = clipStart(hideSecrets(end.tail, secrets), tailCharacters);
  const death = deathOf(end.ending);
  if (death !== null) return { kind: 'died', death, tail };
  const reading = await readResult(resultFile);
  if (reading.kind === 'invalid') {
    return { kind: 'died', death: { kind: 'invalid_result', why: reading.why }, tail };
  }
  // What the operator handed to the agent must not leave the worker in the agent's words.
  return mapStrings(reading.result, (text) => hideSecrets(text, secrets));
}

/** Null for exit 0. A run that was told to stop, or whose program was not there, does not come this far. */
function deathOf(ending: TreeEnding): Death | null {
  switch (ending.kind) {
    case 'exit':
      return ending.code === 0 ? null : ending;
    case 'signal':
    case 'timeout':
      return ending;
    default:
      return { kind: 'failed', code: ending.kind, why: ending.why };
  }
}

/** The end of a run whose agent gave a valid result. */
export function endOfResult(run: {
  readonly lane: Lane;
  readonly result: AgentResult;
  readonly judgement: Judgement;
  readonly receipt: Receipt;
  readonly notices: readonly string[];
}): Extract<RunEnd, { kind: 'result' }> {
  const { result, judgement } = run;
  const question = result.question?.trim() ?? '';
  const asks = result.outcome === 'needs_person';
  const missing = asks && question === '' ? ['The agent needs a person and did not say for what.'] : [];
  const notices = [...run.notices, ...patchNotices(run.lane, run.receipt), ...missing, ...judgement.notices];
  return {
    kind: 'result',
    outcome: result.outcome,
    summary: result.summary,
    ...(asks && question !== '' ? { question } : {}),
    dispositions: judgement.dispositions,
    proposals: judgement.proposals,
    notices: boundNotices(notices),
  };
}

/** The patch as part of the result: in a lane that writes, where there is one. */
export function patchRef(
  receipt: Receipt,
  lane: Pick<Lane, 'writes'>,
  worker: string,
): { readonly patch?: PatchRef } {
  if (!lane.writes || receipt.bytes === 0) return {};
  const { copy, run, base, tree, sha256, bytes, files, partial } = receipt;
  return { patch: { copy, worker, run, base, tree, sha256, bytes, files, partial } };
}

function patchNotices(lane: Lane, receipt: Receipt): string[] {
  const notices: string[] = [];
  const files = receipt.files === 1 ? '1 file' : `${receipt.files} files`;
  const removed = receipt.missing.some(({ why }) => why === 'copy_removed');
  if (removed || receipt.emptied) notices.push('The agent removed the whole checkout.');
  if (!lane.writes && receipt.files > 0) {
    notices.push(
      `The agent changed ${files}, but this lane does not write: they are kept in the worker's outbox and are no part ` +
        'of the result.',
    );
  }
  for (const { path, why } of lane.writes && !removed ? receipt.missing : []) {
    notices.push(`The patch does not hold ${JSON.stringify(path)}: ${why.replaceAll('_', ' ')}.`);
  }
  return notices;
}
